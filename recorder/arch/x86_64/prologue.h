// Copies the first instructions of a function so that they do the same at another address.
//
// Units:    bytes of x86-64 code.
// Context:  setup.
// Threads:  any.
// Failure:  an Error that says which instruction cannot be moved. What is not understood is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/bytes/result.h"

namespace heaprec::arch {

struct Prologue {
  std::vector<uint8_t> code;  // the displaced instructions, displacements corrected
  size_t size = 0;            // how many bytes of the source they were
};

// Moves whole instructions, at least `at_least` bytes of them, from `source` (which lies at source_address) to
// new_address. `source` should hold more of the function than that: a branch in it back into the moved bytes is
// refused.
format::Result<Prologue> MovePrologue(std::span<const uint8_t> source, uintptr_t source_address, uintptr_t new_address,
                                      size_t at_least);

// 4 if the code starts with endbr64, else 0.
size_t EndbrSize(std::span<const uint8_t> source);

}  // namespace heaprec::arch
