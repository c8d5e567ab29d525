// The functions of an ELF file by address. Names are read when they are requested. The recorder names native frames
// with it while its process lives, and a reader of the ring after a kill, so both give the same names.
//
// Units:    addresses as in the file (without the load bias).
// Context:  drain (it allocates, and reads files).
// Failure:  a file that cannot be read, or whose build id is not `build_id`, has no functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/elf_file.h"
#include "base/result.h"

namespace heaprec {

class ElfFunctions {
 public:
  using Opener = std::function<Result<ElfFile>(const std::string& path)>;
  // Reads .symtab, here or in the build id's debug file, otherwise .dynsym. build_id: hexadecimal; empty: any.
  ElfFunctions(const std::string& path, const std::string& build_id, const Opener& open);

  struct Function {
    std::string symbol;  // as in the file; empty: no function contains the address
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
  uint64_t names_ = 0, names_bytes_ = 0;  // the strings, in the file
  std::vector<Entry> entries_;            // ascending
};

}  // namespace heaprec
