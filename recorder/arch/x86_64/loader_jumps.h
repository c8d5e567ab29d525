// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

asm(R"(
  .macro heaprec_find_first real
  cmpq $0, \real(%rip)
  jne 1f
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call heaprec_find_loader
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
1:
  .endm

  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  heaprec_find_first heaprec_real_dlsym
  leaq 1(%rdi), %rax  # 0: RTLD_NEXT, 1: RTLD_DEFAULT
  cmpq $1, %rax
  ja heaprec_dlsym_in
  jmp *heaprec_real_dlsym(%rip)
  .cfi_endproc
  .size dlsym, . - dlsym

  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  heaprec_find_first heaprec_real_dlopen
  andl $~8, %esi  # RTLD_DEEPBIND
  jmp *heaprec_real_dlopen(%rip)
  .cfi_endproc
  .size dlopen, . - dlopen
  .purgem heaprec_find_first
)");
