// heaprec_dlsym, as dlsym_jump.h declares it.
#pragma once

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
