// Reads notes, symbols and needed libraries of an ELF64 file. Safe for any content: reads are checked against the
// file's bounds, and results are copies.
//
// Units:    offsets and sizes in bytes; symbol values as the file has them (add the load bias).
// Context:  setup, drain (it allocates).
// Failure:  Errors name the file and say what is wrong with it.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace heaprec {

class ElfFile {
 public:
  // Copies bytes of the file; false: they are not all inside it, or cannot be read. The file is not mapped, because
  // truncating a mapped file causes SIGBUS.
  using Read = std::function<bool(uint64_t offset, void* out, size_t size)>;
  static Result<ElfFile> Open(std::string name, Read read);

  uint16_t machine() const { return machine_; }
  bool HasSegment(uint32_t type) const;
  bool HasSection(uint32_t type) const { return Section(type, "") != nullptr; }
  // Lower-case hex; empty if there is none.
  std::string BuildId() const;
  // The file name in .gnu_debuglink; empty if there is none.
  std::string DebugLink() const;
  // The names of the libraries that the loader loads with it (DT_NEEDED).
  std::vector<std::string> Needed() const;

  // The symbols of a section and the strings that they refer to. Name() stays inside `strings`, whatever the file
  // contains.
  struct Symbols {
    std::vector<Elf64_Sym> entries;
    std::string strings;
    // Empty if the entry points outside the string table.
    std::string_view Name(const Elf64_Sym& symbol) const;
    // Does not search for the end of the name, so it is cheap in a pass over all symbols. `prefix` has no zero byte.
    bool StartsWith(const Elf64_Sym& symbol, std::string_view prefix) const;
  };
  // `type`: SHT_SYMTAB or SHT_DYNSYM.
  Result<Symbols> ReadSymbols(uint32_t type) const;

 private:
  friend class ElfFunctions;

  ElfFile(std::string name, Read read) : name_(std::move(name)), read_(std::move(read)) {}
  Status ReadHeaders();
  // Reads a part of the file into a string, or into a vector of entries; nullopt: it is not all inside the file.
  template <typename Entries>
  std::optional<Entries> ReadAs(uint64_t offset, uint64_t bytes) const;
  std::optional<std::string> ReadSection(const Elf64_Shdr& section) const;
  // The first section of this type, and of this name unless `name` is empty; null if there is none.
  const Elf64_Shdr* Section(uint32_t type, std::string_view name) const;
  // The section of strings that a table's entries refer to; null if there is none.
  const Elf64_Shdr* StringsOf(const Elf64_Shdr& table) const;
  Error Bad(const std::string& what) const { return Error{name_ + ": " + what}; }

  std::string name_;
  Read read_;
  uint16_t machine_ = EM_NONE;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::string section_names_;
};

template <typename Entries>
std::optional<Entries> ElfFile::ReadAs(uint64_t offset, uint64_t bytes) const {
  constexpr size_t kEntryBytes = sizeof(typename Entries::value_type);
  // libjvm's symbols take a few MiB, or 100 MiB with every inline function. The last byte is read first, so that an
  // invalid size costs no memory.
  constexpr uint64_t kMaxBytes = uint64_t{1} << 28;
  char last = 0;
  if (bytes > kMaxBytes || offset > UINT64_MAX - bytes) return std::nullopt;
  if (bytes > 0 && !read_(offset + bytes - 1, &last, 1)) return std::nullopt;
  Entries entries(bytes / kEntryBytes, typename Entries::value_type{});
  if (!entries.empty() && !read_(offset, entries.data(), entries.size() * kEntryBytes)) return std::nullopt;
  return entries;
}

// A build id in lower-case hex.
std::string BuildIdText(std::span<const char> build_id);

// Where a debug package installs the symbols of a file; empty if `build_id` is empty.
std::string DebugFileOf(const std::string& build_id);

// The functions of an ELF file by address. Names are read when they are requested. The recorder names native frames
// with it while its process lives, and a reader of the ring after a kill, so both give the same names.
//
// Units:    addresses as in the file (without the load bias).
// Context:  drain (it allocates, and reads files).
// Failure:  a file that cannot be read, or whose build id is not `build_id`, has no functions.
class ElfFunctions {
 public:
  using Opener = std::function<Result<ElfFile>(const std::string& path)>;
  // Reads .symtab, here or in the build id's debug file, otherwise .dynsym. build_id: hexadecimal; empty: any.
  ElfFunctions(const std::string& path, const std::string& build_id, const Opener& open);

  struct Function {
    std::string symbol;  // as spelled in the file; empty: no function contains the address
    uint32_t offset = 0;
  };
  Function At(uint64_t address) const;

 private:
  struct Entry {
    uint64_t begin;
    uint32_t bytes, name;
  };
  bool Load(Result<ElfFile> file, const std::string& build_id, uint32_t section_type);

  std::optional<ElfFile> file_;
  uint64_t names_ = 0, names_bytes_ = 0;  // offset and size of the string table in the file
  std::vector<Entry> entries_;            // ascending
};

// Finds the build id in the bytes of a note segment or section; empty if there is none. Safe for any content.
//
// Context:  any: no heap, no exception.
inline std::span<const char> BuildIdIn(std::span<const char> notes) {
  constexpr auto padded = [](uint32_t bytes) { return (uint64_t{bytes} + 3) & ~uint64_t{3}; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t content = sizeof note + padded(note.n_namesz);  // at most 2^33: no overflow
    if (content + note.n_descsz > notes.size()) break;
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes.data() + sizeof note, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return notes.subspan(content, note.n_descsz);
    notes = notes.subspan(std::min<uint64_t>(content + padded(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace heaprec
