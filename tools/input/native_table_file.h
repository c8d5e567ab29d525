// A table of native memory by call site, read: of a process that runs, of one that was killed, or the copy that it
// left.
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

  // Those of a process that runs may be ahead of each other by a call.
  uint64_t LiveBytes() const { return allocated_bytes - std::min(allocated_bytes, freed_bytes); }
  uint64_t LiveBlocks() const { return allocated_blocks - std::min(allocated_blocks, freed_blocks); }
  NativeSums& operator+=(const NativeSums& other);
};

struct NativePlace {
  std::vector<uint64_t> pcs;  // return addresses, the innermost first; none: there was no room for another site
  size_t first = 0;           // of those that are the program's own
  uint32_t replaced = 0;      // modules, when they were noted
  NativeSums sums;
};

struct LoadedModule {
  uint64_t begin = 0, end = 0, bias = 0;
  std::string build_id;  // hexadecimal; empty: it has none
  std::string path;
  uint32_t from = 0,
           until = 0;  // modules that had been replaced when it was noted, and as it was itself; 0: it was not

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
  bool checks = false;  // whether blocks were written past their end
  uint64_t overruns = 0;
  NativePlace first_overrun;  // if there are any
  uint32_t sites = 0;
  std::vector<LoadedModule> modules;  // the last one that Holds an address is the one
  std::vector<NativePlace> places;    // those with sums
};

Result<NativeTableFile> ReadNativeTable(const std::string& path);

// Names of native functions, from the symbols of the files that were loaded, or of their debug files.
//
// Failure:  what has no name is "library+0x1234"; a file that is another one by now has no names.
class TableSymbolizer {
 public:
  explicit TableSymbolizer(const std::vector<LoadedModule>& modules) : modules_(modules) {}

  struct Function {
    std::string name;    // demangled; "library+0x1234"
    std::string module;  // "libc.so.6"; "?": in none
    bool is_known = false;
    // As the file has it, and how far behind it the address lies.
    std::string symbol{};
    uint32_t offset = 0;
  };
  // Returns the function of a return address, at the time when `replaced` modules had been replaced.
  const Function& At(uint64_t pc, uint32_t replaced);
  // Null: it is in none. The last that holds an address is the one.
  const LoadedModule* ModuleOf(uint64_t pc, uint32_t replaced) const;

 private:
  const std::vector<LoadedModule>& modules_;
  std::map<const LoadedModule*, ElfFunctions> functions_;
  std::map<std::pair<const LoadedModule*, uint64_t>, Function> known_;
};

}  // namespace heaprec::tools
