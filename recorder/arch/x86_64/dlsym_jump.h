// heaprec_dlsym, as dlsym_jump.h declares it.
#pragma once

#include "recorder/arch/x86_64/machine.h"

asm(R"(
  .text
  .hidden heaprec_dlsym
  .globl heaprec_dlsym
  .type heaprec_dlsym, @function
heaprec_dlsym:
  .cfi_startproc
  endbr64
  movq (%rsp), %rdx
)" HEAPREC_CALL_BEFORE(heaprec_before_dlsym) R"(
  testq %rax, %rax
  jne 1f
  jmp *heaprec_real_dlsym(%rip)
1:
  ret
  .cfi_endproc
  .size heaprec_dlsym, . - heaprec_dlsym
)");
