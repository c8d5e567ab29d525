// Whether memory can be read, at any address.
//
// Context:  any: one system call; errno is preserved.
#pragma once

#include <cstdint>

namespace heaprec::native {

// The 4 bytes around `address`. The result holds only until they are unmapped.
bool IsReadable(uintptr_t address);

}  // namespace heaprec::native
