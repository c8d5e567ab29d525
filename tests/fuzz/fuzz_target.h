// What a fuzz target of this folder consists of. libFuzzer and mutation_driver.cc both drive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// libFuzzer's entry: must not crash, hang or violate the property that the target states, whatever the input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

namespace heaprec::fuzz {

using Input = std::vector<uint8_t>;

// Well-formed inputs to mutate.
std::vector<Input> Seeds();

}  // namespace heaprec::fuzz
