// The functions of an ELF file by address: numbers are kept, names are read when they are asked for. Any content is
// safe: every offset is checked, and bytes are copied with pread, so a file cut short under us raises nothing.
//
// Units:    addresses as the file has them (less the load bias).
// Context:  drain (it allocates, and reads files).
// Failure:  a file that cannot be read, or is not of `build_id`, has no functions.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/buffer/guarded_fd.h"

namespace heaprec::native {

class ElfFunctionIndex {
 public:
  // Of .symtab, here or in the debug file of the build id, else of .dynsym. build_id: hexadecimal; empty: any.
  ElfFunctionIndex(const std::string& path, const std::string& build_id);
  ElfFunctionIndex(const ElfFunctionIndex&) = delete;
  ElfFunctionIndex& operator=(const ElfFunctionIndex&) = delete;

  struct Function {
    std::string symbol;  // as the file has it; empty: none holds the address
    uint32_t offset = 0;
  };
  Function At(uint64_t address) const;

 private:
  struct Entry {
    uint64_t begin;
    uint32_t bytes, name;
  };
  bool Open(const std::string& path);
  bool ReadHeader(Elf64_Ehdr* into) const;
  std::string BuildId() const;
  bool Load(uint32_t section_type);
  bool Read(uint64_t offset, void* into, size_t bytes) const;

  std::string path_;
  mutable buffer::GuardedFd file_;
  uint64_t names_ = 0, names_bytes_ = 0;  // the strings, in the file
  std::vector<Entry> entries_;            // ascending
};

}  // namespace heaprec::native
