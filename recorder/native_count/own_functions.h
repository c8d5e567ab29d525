// The functions that the library exports in the place of libc's, whatever the program binds their names to.
//
// Context:  any.
#pragma once

namespace heaprec::native {

// Returns the library's own function of this name, or null if it has none.
void* OwnFunction(const char* name);

}  // namespace heaprec::native
