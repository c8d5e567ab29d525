// dlsym and dlopen, to be exported in the place of libc's. libc's examine their caller, which a jump does not change.
// Include this in one source file only: it defines the symbols.
//
//   dlsym    of RTLD_NEXT and RTLD_DEFAULT is libc's, of any other handle heaprec_dlsym_in
//   dlopen   is libc's, without RTLD_DEEPBIND
#pragma once

#define HEAPREC_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
// The file that includes this defines them. The two pointers are null until heaprec_find_loader has set them, which is
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
