// What a fuzz target of this folder consists of. libfuzzer_entry.cc and mutation_driver.cc both drive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace heaprec::fuzz {

using Input = std::vector<uint8_t>;

// Ends a target whose property does not hold.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

// What seeds are made of: std::byte, char or uint8_t.
template <typename Bytes>
void Append(const Bytes& bytes, Input* input) {
  for (const auto byte : bytes) input->push_back(static_cast<uint8_t>(byte));
}
template <typename Bytes>
Input InputOf(const Bytes& bytes) {
  Input input;
  Append(bytes, &input);
  return input;
}
inline std::vector<Input> InputsOf(std::initializer_list<std::string_view> texts) {
  std::vector<Input> inputs;
  for (const std::string_view text : texts) inputs.push_back(InputOf(text));
  return inputs;
}

inline std::span<const std::byte> BytesOf(const uint8_t* bytes, size_t size) {
  return std::as_bytes(std::span(bytes, size));
}
inline std::string_view TextOf(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

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
