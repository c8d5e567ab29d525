// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

asm(R"(
  .macro heaprec_find_first real
  adrp x16, \real
  ldr x16, [x16, :lo12:\real]
  cbnz x16, 1f
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, #16]
  bl heaprec_find_loader
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  adrp x16, \real
  ldr x16, [x16, :lo12:\real]
1:
  .endm

  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34  // bti c
  heaprec_find_first heaprec_real_dlsym
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
  heaprec_find_first heaprec_real_dlopen
  and w1, w1, #0xfffffff7  // RTLD_DEEPBIND
  br x16
  .cfi_endproc
  .size dlopen, . - dlopen
  .purgem heaprec_find_first
)");
