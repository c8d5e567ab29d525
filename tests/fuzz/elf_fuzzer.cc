// Property: for any bytes, the ELF reader stays within the bounds of the file.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/elf_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

// In order: null, .symtab, .strtab, .shstrtab, .note.gnu.build-id, .gnu_debuglink.
constexpr char kSectionNames[] = "\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0.gnu_debuglink";
constexpr uint32_t kNameOffsets[] = {0, 1, 9, 17, 27, 46};
constexpr uint32_t kTypes[] = {SHT_NULL, SHT_SYMTAB, SHT_STRTAB, SHT_STRTAB, SHT_NOTE, SHT_PROGBITS};

template <typename T>
void Append(Input* input, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  input->insert(input->end(), bytes, bytes + sizeof value);
}

void AppendText(Input* input, std::string_view text) { input->insert(input->end(), text.begin(), text.end()); }

Input Sections(size_t* ends) {
  Input body;
  Append(&body, Elf64_Sym{});
  Append(&body, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x40});
  ends[1] = body.size();
  AppendText(&body, {"\0function\0", 10});
  ends[2] = body.size();
  AppendText(&body, {kSectionNames, sizeof kSectionNames});
  ends[3] = body.size();
  Append(&body, Elf64_Nhdr{4, 8, NT_GNU_BUILD_ID});
  AppendText(&body, {"GNU\0\x01\x02\x03\x04\x05\x06\x07\x08", 12});
  ends[4] = body.size();
  AppendText(&body, {"x.debug\0\xaa\xbb\xcc\xdd", 12});
  ends[5] = body.size();
  return body;
}

std::vector<Input> Seeds() {
  size_t ends[6] = {};
  const Input body = Sections(ends);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 6;
  header.e_shstrndx = 3;
  const size_t body_at = sizeof header + sizeof(Elf64_Phdr);
  header.e_shoff = body_at + body.size();
  Input file;
  Append(&file, header);
  Append(&file, Elf64_Phdr{PT_NOTE, PF_R, body_at + ends[3], 0, 0, ends[4] - ends[3], ends[4] - ends[3], 4});
  file.insert(file.end(), body.begin(), body.end());
  for (size_t i = 0; i < 6; ++i) {
    Elf64_Shdr section{};
    section.sh_name = kNameOffsets[i];
    section.sh_type = kTypes[i];
    section.sh_offset = i == 0 ? 0 : body_at + ends[i - 1];
    section.sh_size = i == 0 ? 0 : ends[i] - ends[i - 1];
    section.sh_entsize = i == 1 ? sizeof(Elf64_Sym) : 0;
    section.sh_link = i == 1 ? 2 : 0;
    Append(&file, section);
  }
  return {file};
}

void Check(const uint8_t* bytes, size_t size) {
  const auto open = [&](const std::string& name) {
    return ElfFile::Open(name, [=](uint64_t offset, void* out, size_t count) {
      if (offset > size || count > size - offset) return false;
      std::memcpy(out, bytes + offset, count);
      return true;
    });
  };
  if (const auto elf = open("fuzz"); elf.ok()) {
    Require(elf->BuildId().size() <= 2 * size);
    Require(elf->DebugLink().size() <= size);
    for (const std::string& library : elf->Needed()) Require(library.size() <= size);
    for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
      const auto symbols = elf->ReadSymbols(type);
      if (!symbols.ok()) continue;
      for (const auto& symbol : symbols->entries) {
        const std::string_view name = symbols->Name(symbol);
        Require(name.size() <= symbols->strings.size());
        Require(name.empty() || symbols->StartsWith(symbol, name));
      }
    }
  }
  const ElfFunctions functions("fuzz", "", open);
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x103f}, UINT64_MAX}) {
    Require(functions.At(address).symbol.size() <= size);
  }
}

const Registered kRegistered({.name = "elf", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
