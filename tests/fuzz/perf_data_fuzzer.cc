// Property: whatever a process publishes as its hsperfdata, reading it ends, and no string is longer than the file.
#include <cstring>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tools/control/java_process.h"

namespace heaprec::fuzz {
namespace {

void PutWord(Input* input, uint32_t word) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&word);
  input->insert(input->end(), bytes, bytes + sizeof word);
}

// The layout of perfMemory.hpp: a prologue of 32 bytes, then one entry of 20 bytes, its name and its text.
Input OneEntry(std::string_view name, std::string_view text) {
  Input input{0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
  for (const uint32_t word : {0U, 0U, 0U, 0U, 32U, 1U}) PutWord(&input, word);
  const auto name_bytes = static_cast<uint32_t>(name.size()) + 1;
  const auto text_bytes = static_cast<uint32_t>(text.size()) + 1;
  PutWord(&input, 20 + name_bytes + text_bytes);
  PutWord(&input, 20);
  PutWord(&input, text_bytes);
  PutWord(&input, 'B');
  PutWord(&input, 20 + name_bytes);
  for (const std::string_view part : {name, text}) {
    input.insert(input.end(), part.begin(), part.end());
    input.push_back(0);
  }
  return input;
}

std::vector<Input> Seeds() {
  return {OneEntry("sun.rt.javaCommand", "p.Main a b"), OneEntry("java.property.java.version", "17.0.15")};
}

void Check(const uint8_t* bytes, size_t size) {
  for (const auto& [name, text] : tools::PerfDataStrings(TextOf(bytes, size))) {
    Require(name.size() < size && text.size() < size);
  }
}

const Registered kRegistered({.name = "perf_data", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
