// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

#include "recorder/arch/aarch64/call_before.h"

asm(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34  // bti c
  adrp x16, heaprec_real_dlsym
  ldr x16, [x16, :lo12:heaprec_real_dlsym]
  cbnz x16, 1f
)" HEAPREC_CALL_BEFORE(heaprec_find_loader) R"(
  adrp x16, heaprec_real_dlsym
  ldr x16, [x16, :lo12:heaprec_real_dlsym]
1:
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
  adrp x16, heaprec_real_dlopen
  ldr x16, [x16, :lo12:heaprec_real_dlopen]
  cbnz x16, 1f
)" HEAPREC_CALL_BEFORE(heaprec_find_loader) R"(
  adrp x16, heaprec_real_dlopen
  ldr x16, [x16, :lo12:heaprec_real_dlopen]
1:
  and w1, w1, #0xfffffff7  // RTLD_DEEPBIND
  br x16
  .cfi_endproc
  .size dlopen, . - dlopen
)");
