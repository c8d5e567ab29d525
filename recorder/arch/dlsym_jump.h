// Replaces dlsym: returns the result of heaprec_before_dlsym or, if that is null, jumps to the real dlsym. dlsym
// examines its caller, and a jump does not change the caller. Include this in one source file only: it defines the
// (hidden) symbols.
#pragma once

#include <dlfcn.h>

#define HEAPREC_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
HEAPREC_HIDDEN void* heaprec_dlsym(void* handle, const char* name);
HEAPREC_HIDDEN extern void* (*heaprec_real_dlsym)(void*, const char*);
// Defined by the file that includes this. `caller`: a return address.
HEAPREC_HIDDEN __attribute__((used)) void* heaprec_before_dlsym(void* handle, const char* name, const void* caller);
}

void* (*heaprec_real_dlsym)(void*, const char*) = &dlsym;

#if defined(__aarch64__)
#include "recorder/arch/aarch64/dlsym_jump.h"
#else
#include "recorder/arch/x86_64/dlsym_jump.h"
#endif
