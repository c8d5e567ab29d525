// Names of native functions, from the symbols of the files that were loaded, or of their debug files.
//
// Threads:  one.
// Failure:  what has no name is "library+0x1234"; a file that is another one by now has no names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_file.h"
#include "tools/input/native_table_file.h"

namespace heaprec::tools {

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
