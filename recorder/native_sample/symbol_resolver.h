// The real address of a function that the program's libraries share.
//
// Its name is not enough. A program that is not position independent has an entry of its own for each function whose
// address it takes. In all libraries the name refers to that entry, which jumps through the program's slot.
//
// Context:  setup (it calls the loader).
// Failure:  none: if the function is not found, the result is the address of its name.
#pragma once

namespace heaprec::native {

void* ResolveSymbol(const char* name);

}  // namespace heaprec::native
