// The functions that the library exports in the place of libc's, whatever the program binds their names to.
//
// Context:  any.
#pragma once

namespace heaprec::native {

// Null: it is none of them.
void* OwnFunction(const char* name);

}  // namespace heaprec::native
