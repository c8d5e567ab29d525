// Libraries whose functions allocate on behalf of who calls them (strdup, operator new): their caller is the site.
//
// Context:  FindWrapperModules: setup, without heap. IsAllocatorWrapper: any.
// Threads:  any, after FindWrapperModules.
#pragma once

#include <cstdint>

namespace heaprec::native {

// Those that are loaded: libc, libstdc++, libgcc, and this library.
void FindWrapperModules();
bool IsAllocatorWrapper(uintptr_t pc);

}  // namespace heaprec::native
