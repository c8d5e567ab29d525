#include "recorder/unwind/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heaprec::hotspot {
namespace {

// A libjvm has 33 sections, a debug file about 45; symbol tables are a few MiB (100 MiB with every inline function).
constexpr size_t kMaxSections = 4096;
constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 28;

uint64_t AlignUp4(uint64_t value) { return (value + 3) & ~uint64_t{3}; }

// The string that starts at `offset`, without its terminator; empty when it has none inside `strings`.
std::string_view StringAt(const std::string& strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = std::string_view(strings).substr(offset);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

std::string BuildIdOfNotes(std::string_view notes) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data(), sizeof header);
    const uint64_t body = sizeof header + AlignUp4(header.n_namesz);  // at most 2^33: no overflow
    const uint64_t next = body + AlignUp4(header.n_descsz);
    if (body + header.n_descsz > notes.size()) return {};
    const bool gnu = header.n_namesz == 4 && notes.substr(sizeof header, 4) == std::string_view("GNU\0", 4);
    if (gnu && header.n_type == NT_GNU_BUILD_ID) {
      std::string hex;
      for (const unsigned char byte : notes.substr(body, header.n_descsz)) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
      }
      return hex;
    }
    notes.remove_prefix(std::min<uint64_t>(next, notes.size()));
  }
  return {};
}

ElfFile::ElfFile(std::string path, int descriptor, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

ElfFile::~ElfFile() {
  if (descriptor_ >= 0) close(descriptor_);  // only read from: nothing can be lost
}

format::Error ElfFile::Bad(const std::string& what) const { return format::Error{path_ + ": " + what}; }

bool ElfFile::Read(uint64_t offset, uint64_t size, void* out) const {
  if (offset > size_ || size > size_ - offset) return false;
  char* to = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
  return true;
}

std::optional<std::string> ElfFile::ReadSection(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) return std::nullopt;
  if (section.sh_size > kMaxSectionBytes || section.sh_size > size_) return std::nullopt;
  std::string bytes(section.sh_size, '\0');
  if (!Read(section.sh_offset, bytes.size(), bytes.data())) return std::nullopt;
  return bytes;
}

format::Result<ElfFile> ElfFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a fifo must not block us
  if (descriptor < 0) return format::Error{path + ": " + strerror(errno)};
  struct stat status = {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  ElfFile file(path, descriptor, regular ? static_cast<uint64_t>(status.st_size) : 0);
  if (!regular) return file.Bad("not a regular file");
  const auto headers = file.ReadHeaders();
  if (!headers) return headers.error();
  return file;
}

format::Result<bool> ElfFile::ReadHeaders() {
  Elf64_Ehdr header;
  if (!Read(0, sizeof header, &header)) return Bad("too short for an ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Bad("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Bad("not a 64-bit little-endian ELF file");
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > kMaxSections)
    return Bad("no section headers");
  sections_.resize(header.e_shnum);
  if (!Read(header.e_shoff, sections_.size() * sizeof(Elf64_Shdr), sections_.data()))
    return Bad("section headers are outside the file");
  if (header.e_shstrndx >= sections_.size()) return Bad("no section names");
  auto names = ReadSection(sections_[header.e_shstrndx]);
  if (!names) return Bad("section names are outside the file");
  names_ = std::move(*names);
  return true;
}

const Elf64_Shdr* ElfFile::Section(uint32_t type, std::string_view name) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != type) continue;
    if (name.empty() || StringAt(names_, section.sh_name) == name) return &section;
  }
  return nullptr;
}

std::string ElfFile::BuildId() const {
  const Elf64_Shdr* const section = Section(SHT_NOTE, ".note.gnu.build-id");
  if (section == nullptr) return {};
  const auto notes = ReadSection(*section);
  return notes ? BuildIdOfNotes(*notes) : std::string();
}

std::string ElfFile::DebugLink() const {
  const Elf64_Shdr* const section = Section(SHT_PROGBITS, ".gnu_debuglink");
  if (section == nullptr) return {};
  const auto bytes = ReadSection(*section);
  return bytes ? std::string(StringAt(*bytes, 0)) : std::string();
}

std::string_view ElfFile::Symbols::Name(const Elf64_Sym& symbol) const { return StringAt(strings, symbol.st_name); }

// Behind "_ZN", which all C++ names have.
constexpr size_t kMangled = 3, kHead = kMangled + 8;

bool ElfFile::Symbols::StartsWith(const Elf64_Sym& symbol, std::string_view prefix) const {
  if (symbol.st_name > strings.size() || prefix.size() > strings.size() - symbol.st_name) return false;
  const char* const name = strings.data() + symbol.st_name;
  // Nearly all differ here: a comparison of a known length is one instruction, where libjvm has 60,000 symbols.
  if (prefix.size() >= kHead && std::memcmp(name + kMangled, prefix.data() + kMangled, kHead - kMangled) != 0)
    return false;
  return std::memcmp(name, prefix.data(), prefix.size()) == 0;
}

format::Result<ElfFile::Symbols> ElfFile::ReadSymtab() const {
  const Elf64_Shdr* const table = Section(SHT_SYMTAB, "");
  if (table == nullptr) return Bad("no .symtab");
  if (table->sh_entsize != sizeof(Elf64_Sym) || (table->sh_flags & SHF_COMPRESSED) != 0 ||
      table->sh_link >= sections_.size())
    return Bad("odd .symtab");
  auto strings = ReadSection(sections_[table->sh_link]);
  if (!strings) return Bad("the strings of .symtab are outside the file");
  Symbols symbols;
  if (table->sh_size > kMaxSectionBytes || table->sh_size > size_) return Bad(".symtab is outside the file");
  symbols.entries.resize(table->sh_size / sizeof(Elf64_Sym));
  if (!Read(table->sh_offset, symbols.entries.size() * sizeof(Elf64_Sym), symbols.entries.data()))
    return Bad(".symtab is outside the file");
  symbols.strings = std::move(*strings);
  return symbols;
}

}  // namespace heaprec::hotspot
