// dlsym and dlopen, as loader_jumps.h declares them.
#pragma once

#include "recorder/arch/x86_64/machine.h"

// Looks up the loader's functions unless `real` is known.
#define HEAPREC_FIND_FIRST(real) \
  "  cmpq $0, " #real "(%rip)\n  jne 1f\n" HEAPREC_CALL_BEFORE(heaprec_find_loader) "1:\n"

asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
)" HEAPREC_FIND_FIRST(heaprec_real_dlsym) R"(
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
)" HEAPREC_FIND_FIRST(heaprec_real_dlopen) R"(
  andl $~8, %esi  # RTLD_DEEPBIND
  jmp *heaprec_real_dlopen(%rip)
  .cfi_endproc
  .size dlopen, . - dlopen
)");

#undef HEAPREC_FIND_FIRST
