// What a call of a method allocates, mode by mode of the JVM's compiler: what heaprec.Escape tells of each.
//
// Failure:  ParseOutcomes: an Error naming the line that cannot be.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heaprec::tools {

struct EscapeMode {
  const char* name;   // "c2"
  const char* title;  // "C2"
  std::vector<std::string> flags;
  bool compiles;
};
std::span<const EscapeMode> EscapeModes();

struct AllocatedClass {
  std::string name;
  uint64_t objects, bytes;
};

// Result of the probed calls.
struct CallOutcome {
  std::string error;                                  // why there is nothing else
  bool is_unusable = false;                           // with `error`: the name is not a method that can be measured
  std::vector<std::string> usable;                    // then the methods of its class that can be measured
  uint64_t calls_before = 0, calls = 0, typical = 0;  // typical: that allocated what most did
  uint64_t bytes_of_all = 0;
  bool is_whole = false;
  bool is_stable = false;               // rounds of probes agreed
  std::vector<AllocatedClass> classes;  // of a typical call, in the order in which they came

  uint64_t Bytes() const;
  uint64_t Objects() const;
};

// By method. Names of hidden classes are without what a JVM makes up (generated_names.h), so that modes compare.
using CallOutcomes = std::map<std::string, CallOutcome>;
Result<CallOutcomes> ParseOutcomes(std::string_view text);

}  // namespace heaprec::tools
