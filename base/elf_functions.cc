#include "base/elf_functions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heaprec {
namespace {

constexpr uint64_t kMaxSymbols = 4 << 20;
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kAtOnce = 4096;
constexpr uint64_t kMaxFunctionBytes = 1 << 20;

}  // namespace

ElfFunctions::ElfFunctions(const std::string& path, const std::string& build_id, const Opener& open) {
  if (Load(open(path), build_id, SHT_SYMTAB)) return;
  if (const std::string debug = DebugFileOf(build_id); !debug.empty() && Load(open(debug), "", SHT_SYMTAB)) return;
  (void)Load(open(path), build_id, SHT_DYNSYM);
}

// A library that was replaced while the process runs is another one: its build id differs.
bool ElfFunctions::Load(Result<ElfFile> file, const std::string& build_id, uint32_t section_type) {
  if (!file || (!build_id.empty() && file->BuildId() != build_id)) return false;
  const Elf64_Shdr* const table = file->Section(section_type, "");
  if (table == nullptr || file->StringsOf(*table) == nullptr) return false;
  names_ = file->StringsOf(*table)->sh_offset;
  names_bytes_ = file->StringsOf(*table)->sh_size;
  const uint64_t count = std::min<uint64_t>(table->sh_size / sizeof(Elf64_Sym), kMaxSymbols);
  for (uint64_t first = 0; first < count; first += kAtOnce) {
    const uint64_t some = std::min<uint64_t>(kAtOnce, count - first);
    const auto symbols =
        file->ReadAs<std::vector<Elf64_Sym>>(table->sh_offset + first * sizeof(Elf64_Sym), some * sizeof(Elf64_Sym));
    if (!symbols) break;
    for (const Elf64_Sym& symbol : *symbols) {
      const int kind = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || (kind != STT_FUNC && kind != STT_GNU_IFUNC)) continue;
      const auto bytes = static_cast<uint32_t>(std::clamp<uint64_t>(symbol.st_size, 1, UINT32_MAX));
      entries_.push_back({symbol.st_value, bytes, symbol.st_name});
    }
  }
  std::ranges::stable_sort(entries_, {}, &Entry::begin);
  entries_.shrink_to_fit();
  if (!entries_.empty()) file_ = std::move(*file);
  return !entries_.empty();
}

ElfFunctions::Function ElfFunctions::At(uint64_t address) const {
  // Functions may overlap: takes the nearest one that contains the address.
  auto next = std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
  do {
    if (next == entries_.begin()) return {};
    --next;
    if (address - next->begin > kMaxFunctionBytes) return {};
  } while (address - next->begin >= next->bytes);
  // If a function has several names, the first one.
  const auto found = std::ranges::lower_bound(entries_, next->begin, {}, &Entry::begin);
  if (found->name >= names_bytes_) return {};
  std::array<char, kMaxNameBytes> name{};
  const size_t bytes = std::min<uint64_t>(name.size() - 1, names_bytes_ - found->name);
  if (!file_->read_(names_ + found->name, name.data(), bytes)) return {};
  return {name.data(), static_cast<uint32_t>(address - found->begin)};
}

}  // namespace heaprec
