// dlsym and dlopen, exported in place of libc's. libc's functions examine their caller, which a jump does not change.
// Include this in one source file only: it defines the symbols.
//
//   dlsym    calls libc's for RTLD_NEXT and RTLD_DEFAULT, heaprec_dlsym_in for any other handle
//   dlopen   calls libc's without RTLD_DEEPBIND
#pragma once

#define HEAPREC_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
// Defined by the file that includes this. The two pointers are null until heaprec_find_loader has set them; it is
// called before they are used.
HEAPREC_HIDDEN extern void* (*heaprec_real_dlsym)(void*, const char*);
HEAPREC_HIDDEN extern void* (*heaprec_real_dlopen)(const char*, int);
HEAPREC_HIDDEN __attribute__((used)) void heaprec_find_loader();
HEAPREC_HIDDEN __attribute__((used)) void* heaprec_dlsym_in(void* handle, const char* name);
}

#if defined(__aarch64__)
#include "recorder/arch/aarch64/loader_jumps.h"
#else
#include "recorder/arch/x86_64/loader_jumps.h"
#endif
