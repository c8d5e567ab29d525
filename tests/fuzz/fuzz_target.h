// What a fuzz target of this folder consists of. libfuzzer_entry.cc and mutation_driver.cc both drive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heaprec::fuzz {

using Input = std::vector<uint8_t>;

struct Target {
  const char* name;               // of NAME_fuzzer.cc and corpus/NAME
  std::vector<Input> (*seeds)();  // well-formed inputs to mutate
  // Must not crash, hang or violate the property that the target states, whatever the input.
  void (*check)(const uint8_t* bytes, size_t size);
  uint64_t mutations = 4000;  // in a test run
};

// Of this program: all in the test, one with libFuzzer.
inline std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

struct Registered {
  explicit Registered(const Target& target) { Targets().push_back(target); }
};

}  // namespace heaprec::fuzz
