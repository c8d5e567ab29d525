// The allocations of one method call in each mode of the JVM's compiler, as written by heaprec.Escape.
//
// Failure:  ParseOutcomes: an Error naming the invalid line.
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
  std::string error;                                  // why there are no other values
  bool is_unusable = false;                           // with `error`: the name is not a method that can be measured
  std::vector<std::string> usable;                    // if so, the methods of its class that can be measured
  uint64_t calls_before = 0, calls = 0, typical = 0;  // typical: number of calls that allocated what most did
  uint64_t bytes_of_all = 0;
  bool is_whole = false;
  bool is_stable = false;               // rounds of probes agree
  std::vector<AllocatedClass> classes;  // of a typical call, in order of allocation

  uint64_t Bytes() const;
  uint64_t Objects() const;
};

// By method. Names of hidden classes are without generated suffixes (dictionary_names.h), so that modes can be
// compared.
using CallOutcomes = std::map<std::string, CallOutcome>;
Result<CallOutcomes> ParseOutcomes(std::string_view text);

}  // namespace heaprec::tools
