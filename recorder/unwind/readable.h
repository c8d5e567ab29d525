// Whether memory can be read, of an address that may lead anywhere.
//
// Context:  any: one system call; errno is kept.
#pragma once

#include <cstdint>

namespace heaprec::native {

// The 4 bytes around `address`. True only as long as nobody unmaps them.
bool IsReadable(uintptr_t address);

}  // namespace heaprec::native
