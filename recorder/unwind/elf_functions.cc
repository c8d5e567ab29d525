#include "recorder/unwind/elf_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "recorder/unwind/build_id.h"

namespace heaprec::native {
namespace {

constexpr uint64_t kMaxSymbols = 4 << 20;
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxNoteBytes = 1 << 16;
constexpr size_t kAtOnce = 4096;

std::string DebugFileOf(const std::string& build_id) {
  if (build_id.size() < 3) return {};
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

}  // namespace

ElfFunctionIndex::ElfFunctionIndex(const std::string& path, const std::string& build_id) {
  const auto opens = [&] { return Open(path) && (build_id.empty() || BuildId() == build_id); };
  if (opens() && Load(SHT_SYMTAB)) return;
  if (Open(DebugFileOf(build_id)) && Load(SHT_SYMTAB)) return;
  if (opens()) (void)Load(SHT_DYNSYM);
}

bool ElfFunctionIndex::Open(const std::string& path) {
  path_ = path;
  file_ = path.empty() ? buffer::GuardedFd() : buffer::GuardedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file_.number() >= 0;
}

bool ElfFunctionIndex::Read(uint64_t offset, void* into, size_t bytes) const {
  if (!file_.Reopen(path_, O_RDONLY)) return false;
  return pread(file_.number(), into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

bool ElfFunctionIndex::ReadHeader(Elf64_Ehdr* into) const {
  return Read(0, into, sizeof *into) && std::memcmp(into->e_ident, ELFMAG, SELFMAG) == 0 &&
         into->e_ident[EI_CLASS] == ELFCLASS64 && into->e_shentsize == sizeof(Elf64_Shdr) &&
         into->e_phentsize == sizeof(Elf64_Phdr);
}

// A library that was replaced while the process runs is another one.
std::string ElfFunctionIndex::BuildId() const {
  Elf64_Ehdr header{};
  if (!ReadHeader(&header)) return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!Read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return {};
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::vector<uint8_t> notes(segment.p_filesz);
    if (!Read(segment.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = BuildIdIn(notes); !id.empty()) return id;
  }
  return {};
}

bool ElfFunctionIndex::Load(uint32_t section_type) {
  Elf64_Ehdr header{};
  if (!ReadHeader(&header)) return false;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!Read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return false;
  const auto table = std::ranges::find(sections, section_type, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return false;
  names_ = sections[table->sh_link].sh_offset;
  names_bytes_ = sections[table->sh_link].sh_size;
  const uint64_t count = std::min<uint64_t>(table->sh_size / sizeof(Elf64_Sym), kMaxSymbols);
  std::array<Elf64_Sym, kAtOnce> symbols;
  for (uint64_t first = 0; first < count; first += kAtOnce) {
    const uint64_t some = std::min<uint64_t>(kAtOnce, count - first);
    if (!Read(table->sh_offset + first * sizeof(Elf64_Sym), symbols.data(), some * sizeof(Elf64_Sym))) break;
    for (const Elf64_Sym& symbol : std::span(symbols).first(some)) {
      const int kind = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || (kind != STT_FUNC && kind != STT_GNU_IFUNC)) continue;
      const auto bytes = static_cast<uint32_t>(std::clamp<uint64_t>(symbol.st_size, 1, UINT32_MAX));
      entries_.push_back({symbol.st_value, bytes, symbol.st_name});
    }
  }
  std::ranges::stable_sort(entries_, {}, &Entry::begin);
  entries_.shrink_to_fit();
  return !entries_.empty();
}

ElfFunctionIndex::Function ElfFunctionIndex::At(uint64_t address) const {
  const auto next = std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
  if (next == entries_.begin()) return {};
  // Of several names of one function the first.
  const auto found = std::ranges::lower_bound(entries_, std::prev(next)->begin, {}, &Entry::begin);
  if (address - found->begin >= found->bytes || found->name >= names_bytes_) return {};
  std::array<char, kMaxNameBytes> name{};
  const size_t bytes = std::min<uint64_t>(name.size() - 1, names_bytes_ - found->name);
  if (!Read(names_ + found->name, name.data(), bytes)) return {};
  return {name.data(), static_cast<uint32_t>(address - found->begin)};
}

}  // namespace heaprec::native
