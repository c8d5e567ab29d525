// What stands in the place of dlsym: it calls heaprec_before_dlsym, then jumps to the real one. dlsym looks at who
// calls it; a jump leaves the caller where it is. For one source file: it defines the symbols, which are hidden.
#pragma once

#include <dlfcn.h>

#define HEAPREC_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
HEAPREC_HIDDEN void* heaprec_dlsym(void* handle, const char* name);
HEAPREC_HIDDEN extern void* (*heaprec_real_dlsym)(void*, const char*);
// Whoever includes this defines it.
HEAPREC_HIDDEN __attribute__((used)) void heaprec_before_dlsym();
}

void* (*heaprec_real_dlsym)(void*, const char*) = &dlsym;

#if defined(__aarch64__)
#include "recorder/arch/aarch64/dlsym_jump.h"
#else
#include "recorder/arch/x86_64/dlsym_jump.h"
#endif
