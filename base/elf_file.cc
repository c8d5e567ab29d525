#include "base/elf_file.h"

#include <array>

namespace heaprec {
namespace {

constexpr size_t kMaxSections = 4096;  // a libjvm has 33, a debug file about 45

// The string that starts at `offset`, without its terminator; empty when it has none inside `strings`.
std::string_view StringAt(const std::string& strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = std::string_view(strings).substr(offset);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

constexpr uint64_t kMaxSymbols = 4 << 20;
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kAtOnce = 4096;
constexpr uint64_t kMaxFunctionBytes = 1 << 20;

}  // namespace

std::string BuildIdText(std::span<const char> build_id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : build_id) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

std::string DebugFileOf(const std::string& build_id) {
  if (build_id.size() < 3) return {};
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

std::optional<std::string> ElfFile::ReadSection(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) return std::nullopt;
  return ReadAs<std::string>(section.sh_offset, section.sh_size);
}

Result<ElfFile> ElfFile::Open(std::string name, Read read) {
  ElfFile file(std::move(name), std::move(read));
  const auto headers = file.ReadHeaders();
  if (!headers) return headers.error();
  return file;
}

Status ElfFile::ReadHeaders() {
  Elf64_Ehdr header;
  if (!read_(0, &header, sizeof header)) return Bad("too short for an ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Bad("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Bad("not a 64-bit little-endian ELF file");
  machine_ = header.e_machine;
  if ((header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) || header.e_shnum > kMaxSections ||
      (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
    return Bad("odd headers");
  auto segments = ReadAs<std::vector<Elf64_Phdr>>(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  auto sections = ReadAs<std::vector<Elf64_Shdr>>(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (!segments || !sections) return Bad("headers are outside the file");
  segments_ = std::move(*segments);
  sections_ = std::move(*sections);
  if (sections_.empty()) return {};
  if (header.e_shstrndx >= sections_.size()) return Bad("no section names");
  auto names = ReadSection(sections_[header.e_shstrndx]);
  if (!names) return Bad("section names are outside the file");
  section_names_ = std::move(*names);
  return {};
}

bool ElfFile::HasSegment(uint32_t type) const {
  return std::ranges::find(segments_, type, &Elf64_Phdr::p_type) != segments_.end();
}

const Elf64_Shdr* ElfFile::Section(uint32_t type, std::string_view name) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != type) continue;
    if (name.empty() || StringAt(section_names_, section.sh_name) == name) return &section;
  }
  return nullptr;
}

const Elf64_Shdr* ElfFile::StringsOf(const Elf64_Shdr& table) const {
  return table.sh_link < sections_.size() ? &sections_[table.sh_link] : nullptr;
}

std::string ElfFile::BuildId() const {
  const auto id_at = [this](uint64_t offset, uint64_t bytes) {
    const auto notes = ReadAs<std::string>(offset, bytes);
    return notes ? BuildIdText(BuildIdIn(*notes)) : std::string();
  };
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOTE) continue;
    if (std::string id = id_at(section.sh_offset, section.sh_size); !id.empty()) return id;
  }
  if (!sections_.empty()) return {};  // a debug file does not have the contents of its segments
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    if (std::string id = id_at(segment.p_offset, segment.p_filesz); !id.empty()) return id;
  }
  return {};
}

std::string ElfFile::DebugLink() const {
  const Elf64_Shdr* const section = Section(SHT_PROGBITS, ".gnu_debuglink");
  if (section == nullptr) return {};
  const auto bytes = ReadSection(*section);
  return bytes ? std::string(StringAt(*bytes, 0)) : std::string();
}

std::vector<std::string> ElfFile::Needed() const {
  std::vector<std::string> needed;
  const Elf64_Shdr* const section = Section(SHT_DYNAMIC, "");
  if (section == nullptr || StringsOf(*section) == nullptr) return needed;
  const auto entries = ReadAs<std::vector<Elf64_Dyn>>(section->sh_offset, section->sh_size);
  const auto strings = ReadSection(*StringsOf(*section));
  if (!entries || !strings) return needed;
  for (const Elf64_Dyn& entry : *entries) {
    if (entry.d_tag == DT_NEEDED) needed.emplace_back(StringAt(*strings, entry.d_un.d_val));
  }
  return needed;
}

std::string_view ElfFile::Symbols::Name(const Elf64_Sym& symbol) const { return StringAt(strings, symbol.st_name); }

// After "_ZN", with which all C++ names begin.
constexpr size_t kMangled = 3, kHead = kMangled + 8;

bool ElfFile::Symbols::StartsWith(const Elf64_Sym& symbol, std::string_view prefix) const {
  if (symbol.st_name > strings.size() || prefix.size() > strings.size() - symbol.st_name) return false;
  const char* const name = strings.data() + symbol.st_name;
  // Nearly all names differ within these bytes. A comparison of a fixed length is one instruction, and libjvm has
  // 60,000 symbols.
  if (prefix.size() >= kHead && std::memcmp(name + kMangled, prefix.data() + kMangled, kHead - kMangled) != 0)
    return false;
  return std::memcmp(name, prefix.data(), prefix.size()) == 0;
}

Result<ElfFile::Symbols> ElfFile::ReadSymbols(uint32_t type) const {
  const Elf64_Shdr* const table = Section(type, "");
  if (table == nullptr) return Bad("no such symbols");
  if (table->sh_entsize != sizeof(Elf64_Sym) || (table->sh_flags & SHF_COMPRESSED) != 0 || StringsOf(*table) == nullptr)
    return Bad("odd symbols");
  auto strings = ReadSection(*StringsOf(*table));
  auto entries = ReadAs<std::vector<Elf64_Sym>>(table->sh_offset, table->sh_size);
  if (!strings || !entries) return Bad("symbols are outside the file");
  return Symbols{std::move(*entries), std::move(*strings)};
}

ElfFunctions::ElfFunctions(const std::string& path, const std::string& build_id, const Opener& open) {
  if (Load(open(path), build_id, SHT_SYMTAB)) return;
  if (const std::string debug = DebugFileOf(build_id); !debug.empty() && Load(open(debug), "", SHT_SYMTAB)) return;
  (void)Load(open(path), build_id, SHT_DYNSYM);
}

// If the library was replaced while the process runs, the file has another build id.
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
  // Functions may overlap: takes the one that contains the address and begins nearest to it.
  auto next = std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
  do {
    if (next == entries_.begin()) return {};
    --next;
    if (address - next->begin > kMaxFunctionBytes) return {};
  } while (address - next->begin >= next->bytes);
  // If a function has several names, uses the first one.
  const auto found = std::ranges::lower_bound(entries_, next->begin, {}, &Entry::begin);
  if (found->name >= names_bytes_) return {};
  std::array<char, kMaxNameBytes> name{};
  const size_t bytes = std::min<uint64_t>(name.size() - 1, names_bytes_ - found->name);
  if (!file_->read_(names_ + found->name, name.data(), bytes)) return {};
  return {name.data(), static_cast<uint32_t>(address - found->begin)};
}

}  // namespace heaprec
