// The real address of a function that the program's libraries share.
//
// Its name is not enough. A program that is not position independent has an entry of its own for each function whose
// address it takes. In all libraries the name refers to that entry, which jumps through the program's slot.
//
// Context:  setup, and calls of dlsym (it calls the loader).
// Failure:  none: if the function is not found, the result is the address of its name.
#pragma once

namespace heaprec::native {

void* ResolveSymbol(const char* name);
// What dlsym(RTLD_NEXT, name) means for code at `caller`; null if it is not found.
void* ResolveNext(const char* name, const void* caller);
// Whether the module of `function` defines a function of this name, too.
bool IsDefinedBeside(void* function, const char* name);

}  // namespace heaprec::native
