// Reads build id, debug link and symbols of an ELF64 file. Any content is safe: every offset is checked against the
// file's size, and bytes are copied out with pread, so that a file cut short under us cannot raise SIGBUS.
//
// Units:    offsets and sizes in bytes; symbol values as the file has them (add the load bias).
// Context:  setup.
// Threads:  one.
// Failure:  Errors name the file and what is wrong with it.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::hotspot {

class ElfFile {
 public:
  static format::Result<ElfFile> Open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_),
        sections_(std::move(other.sections_)),
        names_(std::move(other.names_)) {}
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  const std::string& path() const { return path_; }
  // Lower-case hex; empty if there is none.
  std::string BuildId() const;
  // The file name in .gnu_debuglink; empty if there is none.
  std::string DebugLink() const;
  bool HasSymtab() const { return Section(SHT_SYMTAB, "") != nullptr; }

  // The symbols of .symtab and the strings they name. Valid for any content: Name() is always inside `strings`.
  struct Symbols {
    std::vector<Elf64_Sym> entries;
    std::string strings;
    // Empty when the entry points outside the string table.
    std::string_view Name(const Elf64_Sym& symbol) const;
    // Does not look for the end of the name: for passes over all symbols. `prefix` holds no zero byte.
    bool StartsWith(const Elf64_Sym& symbol, std::string_view prefix) const;
  };
  format::Result<Symbols> ReadSymtab() const;

 private:
  ElfFile(std::string path, int descriptor, uint64_t size);
  // Fills `out` from the file; false when [offset, offset + size) is not inside it or the read fails.
  bool Read(uint64_t offset, uint64_t size, void* out) const;
  std::optional<std::string> ReadSection(const Elf64_Shdr& section) const;
  format::Result<bool> ReadHeaders();
  // First section of this type, and of this name unless `name` is empty; null if there is none.
  const Elf64_Shdr* Section(uint32_t type, std::string_view name) const;
  format::Error Bad(const std::string& what) const;

  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
};

// The build id in the bytes of a note segment or section, in lower-case hex; empty if there is none.
std::string BuildIdOfNotes(std::string_view notes);

}  // namespace heaprec::hotspot
