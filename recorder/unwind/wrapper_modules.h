// Libraries whose functions allocate on behalf of who calls them (strdup, operator new): their caller is the site.
//
// Context:  NoteModulesToPass: setup, without heap. IsPassed: any.
// Threads:  any, after NoteModulesToPass.
#pragma once

#include <cstdint>

namespace heaprec::native {

// Those that are loaded: libc, libstdc++, libgcc, and this library.
void NoteModulesToPass();
bool IsPassed(uintptr_t pc);

}  // namespace heaprec::native
