// The native stack of the calling thread.
//
// Context:  any, as CfiCache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

// Return addresses, innermost first, from the one in the caller on. Returns how many.
size_t UnwindFromHere(CfiCache* rules, std::span<uintptr_t> into);

}  // namespace heaprec::native
