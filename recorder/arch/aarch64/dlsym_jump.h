// heaprec_dlsym, as dlsym_jump.h declares it.
#pragma once

#include "recorder/arch/aarch64/machine.h"

asm(R"(
  .text
  .hidden heaprec_dlsym
  .globl heaprec_dlsym
  .type heaprec_dlsym, %function
heaprec_dlsym:
  .cfi_startproc
  hint #34  // bti c
  mov x2, x30
)" HEAPREC_CALL_BEFORE(heaprec_before_dlsym) R"(
  cbnz x17, 1f
  adrp x16, heaprec_real_dlsym
  ldr x16, [x16, :lo12:heaprec_real_dlsym]
  br x16
1:
  mov x0, x17
  ret
  .cfi_endproc
  .size heaprec_dlsym, . - heaprec_dlsym
)");
