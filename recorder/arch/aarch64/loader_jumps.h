// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

#include "recorder/arch/aarch64/machine.h"

#define HEAPREC_LOAD(real) "  adrp x16, " #real "\n  ldr x16, [x16, :lo12:" #real "]\n"
// Sets x16 to the address in `real`, and looks up the loader's functions first if they are not known.
#define HEAPREC_FIND_FIRST(real) \
  HEAPREC_LOAD(real) "  cbnz x16, 1f\n" HEAPREC_CALL_BEFORE(heaprec_find_loader) HEAPREC_LOAD(real) "1:\n"

asm(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34  // bti c
)" HEAPREC_FIND_FIRST(heaprec_real_dlsym) R"(
  cmn x0, #1  // RTLD_NEXT
  b.eq 2f
  cbz x0, 2f  // RTLD_DEFAULT
  b heaprec_dlsym_in
2:
  br x16
  .cfi_endproc
  .size dlsym, . - dlsym

  .globl dlopen
  .type dlopen, %function
dlopen:
  .cfi_startproc
  hint #34  // bti c
)" HEAPREC_FIND_FIRST(heaprec_real_dlopen) R"(
  and w1, w1, #0xfffffff7  // RTLD_DEEPBIND
  br x16
  .cfi_endproc
  .size dlopen, . - dlopen
)");

#undef HEAPREC_FIND_FIRST
#undef HEAPREC_LOAD
