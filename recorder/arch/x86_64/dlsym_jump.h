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

asm(R"(
  .text
  .hidden heaprec_dlsym
  .globl heaprec_dlsym
  .type heaprec_dlsym, @function
heaprec_dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call heaprec_before_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *heaprec_real_dlsym(%rip)
  .cfi_endproc
  .size heaprec_dlsym, . - heaprec_dlsym
)");

void* (*heaprec_real_dlsym)(void*, const char*) = &dlsym;
