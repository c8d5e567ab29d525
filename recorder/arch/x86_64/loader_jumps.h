// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

#include "recorder/arch/x86_64/call_before.h"

asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  cmpq $0, heaprec_real_dlsym(%rip)
  jne 1f
)" HEAPREC_CALL_BEFORE(heaprec_find_loader) R"(
1:
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
  cmpq $0, heaprec_real_dlopen(%rip)
  jne 1f
)" HEAPREC_CALL_BEFORE(heaprec_find_loader) R"(
1:
  andl $~8, %esi  # RTLD_DEEPBIND
  jmp *heaprec_real_dlopen(%rip)
  .cfi_endproc
  .size dlopen, . - dlopen
)");
