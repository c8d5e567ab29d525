// Where a function that the program's libraries share really lies.
//
// Its name is not enough: a program that is not position independent has an entry of its own for each function whose
// address it takes. The name stands for that entry, in all libraries, and the entry jumps through the program's slot.
//
// Context:  setup (it asks the loader).
// Failure:  none: what is not found is what the name stands for.
#pragma once

namespace heaprec::native {

void* ResolveSymbol(const char* name);

}  // namespace heaprec::native
