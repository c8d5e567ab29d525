// heaprec_dlsym, as dlsym_jump.h declares it.
#pragma once

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
