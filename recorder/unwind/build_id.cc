#include "recorder/unwind/build_id.h"

#include <elf.h>

#include <cstring>

namespace heaprec::native {
namespace {

std::string Hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

size_t Padded(uint32_t bytes) { return (size_t{bytes} + 3) & ~size_t{3}; }

}  // namespace

std::string BuildIdIn(std::span<const uint8_t> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t name = Padded(note.n_namesz), content = Padded(note.n_descsz);
    const size_t whole = sizeof note + name + content;
    if (whole > notes.size()) break;
    const uint8_t* const at = notes.data() + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0) {
      return Hex({at + name, note.n_descsz});
    }
    notes = notes.subspan(whole);
  }
  return {};
}

}  // namespace heaprec::native
