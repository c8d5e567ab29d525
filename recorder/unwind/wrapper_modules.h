// Libraries whose functions allocate for their callers (strdup, operator new): the caller is the site.
//
// Context:  FindWrapperModules: setup, without heap. IsAllocatorWrapper: any.
// Threads:  any, after FindWrapperModules.
#pragma once

#include <cstdint>

namespace heaprec::native {

// Finds those that are loaded: libc, libstdc++, libgcc, and this library.
void FindWrapperModules();
bool IsAllocatorWrapper(uintptr_t pc);

}  // namespace heaprec::native
