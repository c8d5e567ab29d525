// Part of a function in assembly that ends with a jump to another function: calls `function` first. The two arguments
// and the return address stay where they are, and rax has its result.
#pragma once

#define HEAPREC_CALL_BEFORE(function) \
  "  pushq %rdi\n"                    \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  pushq %rsi\n"                    \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  subq $8, %rsp\n"                 \
  "  .cfi_adjust_cfa_offset 8\n"      \
  "  call " #function                 \
  "\n"                                \
  "  addq $8, %rsp\n"                 \
  "  .cfi_adjust_cfa_offset -8\n"     \
  "  popq %rsi\n"                     \
  "  .cfi_adjust_cfa_offset -8\n"     \
  "  popq %rdi\n"                     \
  "  .cfi_adjust_cfa_offset -8\n"
