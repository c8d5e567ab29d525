// Copies the first instructions of a function to another address without changing what they do.
//
// Units:    bytes of x86-64 code.
// Context:  setup.
// Threads:  any.
// Failure:  an Error that says which instruction cannot be moved. An instruction that is not understood is rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace heaprec::arch {

struct Prologue {
  std::vector<uint8_t> code;  // the displaced instructions, displacements corrected
  size_t size = 0;            // their size in the source
};

// Moves whole instructions, at least `at_least` bytes, from `source` (at source_address) to new_address. `source`
// should contain more of the function: if it branches back into the moved bytes, it is rejected.
Result<Prologue> MovePrologue(std::span<const uint8_t> source, uintptr_t source_address, uintptr_t new_address,
                              size_t at_least);

// Returns 4 if the code starts with endbr64, otherwise 0.
size_t EndbrSize(std::span<const uint8_t> source);

}  // namespace heaprec::arch
