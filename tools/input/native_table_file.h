// Reads a table of native memory by call site: of a running process, of a killed one, or the copy that it has written.
//
// Failure:  an Error naming the file, the offset and what is wrong there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_file.h"
#include "base/result.h"
#include "format/native/native_table.h"

namespace heaprec::tools {

struct NativeSums {
  uint64_t allocated_bytes = 0, allocated_blocks = 0, freed_bytes = 0, freed_blocks = 0;

  // Counts of a running process may differ by one call.
  uint64_t LiveBytes() const { return allocated_bytes - std::min(allocated_bytes, freed_bytes); }
  uint64_t LiveBlocks() const { return allocated_blocks - std::min(allocated_blocks, freed_blocks); }
  NativeSums& operator+=(const NativeSums& other);
};

struct NativePlace {
  std::vector<uint64_t> pcs;  // return addresses, innermost first; empty: the table was full
  size_t first = 0;           // index of the first one in the program itself
  uint32_t replaced = 0;      // number of replaced modules when it was added
  NativeSums sums;
};

struct LoadedModule {
  uint64_t begin = 0, end = 0, bias = 0;
  std::string build_id;  // hexadecimal; empty: none
  std::string path;
  uint32_t from = 0,
           until = 0;  // numbers of replaced modules when it was added, and when it was replaced itself; 0: it was not

  bool Holds(uint64_t pc, uint32_t replaced) const {
    return begin <= pc && pc < end && from <= replaced && (until == 0 || replaced < until);
  }
};

struct NativeTableFile {
  std::string path, program;
  uint32_t pid = 0, depth = 1;
  bool has_ended = false;
  uint64_t start_epoch_ns = 0;
  uint64_t early_blocks = 0, early_bytes = 0, foreign_frees = 0, without_shard = 0;
  bool checks = false;  // blocks are checked for writes past their end
  uint64_t overruns = 0;
  NativePlace first_overrun;  // site of the first overrun, if any
  uint32_t sites = 0;
  std::vector<LoadedModule> modules;  // if several contain an address, the last one is used
  std::vector<NativePlace> places;    // sites with counts
};

Result<NativeTableFile> ReadNativeTable(const std::string& path);

// Names native functions, from the symbols of the loaded files, or of their debug files.
//
// Failure:  a function without a symbol is "library+0x1234"; a file that has been replaced has no names.
class TableSymbolizer {
 public:
  explicit TableSymbolizer(const std::vector<LoadedModule>& modules) : modules_(modules) {}

  struct Function {
    std::string name;    // demangled; "library+0x1234"
    std::string module;  // "libc.so.6"; "?": not in a module
    bool is_known = false;
    // Symbol as in the file, and the offset of the address in it.
    std::string symbol{};
    uint32_t offset = 0;
  };
  // Returns the function of a return address at the time when `replaced` modules had been replaced.
  const Function& At(uint64_t pc, uint32_t replaced);
  // Null: not in a module. If several contain the address, the last one is used.
  const LoadedModule* ModuleOf(uint64_t pc, uint32_t replaced) const;

 private:
  const std::vector<LoadedModule>& modules_;
  std::map<const LoadedModule*, ElfFunctions> functions_;
  std::map<std::pair<const LoadedModule*, uint64_t>, Function> known_;
};

}  // namespace heaprec::tools
