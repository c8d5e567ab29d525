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
  .type heaprec_dlsym, %function
heaprec_dlsym:
  .cfi_startproc
  hint #34  // bti c
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, #16]
  bl heaprec_before_dlsym
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  adrp x16, heaprec_real_dlsym
  ldr x16, [x16, :lo12:heaprec_real_dlsym]
  br x16
  .cfi_endproc
  .size heaprec_dlsym, . - heaprec_dlsym
)");

void* (*heaprec_real_dlsym)(void*, const char*) = &dlsym;
