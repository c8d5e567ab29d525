// Part of a function in assembly that ends with a jump to another function: calls `function` first. The two arguments
// and the return address stay where they are, and x17 has its result.
#pragma once

#define HEAPREC_CALL_BEFORE(function) \
  "  stp x29, x30, [sp, #-32]!\n"     \
  "  .cfi_adjust_cfa_offset 32\n"     \
  "  .cfi_rel_offset x29, 0\n"        \
  "  .cfi_rel_offset x30, 8\n"        \
  "  mov x29, sp\n"                   \
  "  stp x0, x1, [sp, #16]\n"         \
  "  bl " #function                   \
  "\n"                                \
  "  mov x17, x0\n"                   \
  "  ldp x0, x1, [sp, #16]\n"         \
  "  ldp x29, x30, [sp], #32\n"       \
  "  .cfi_adjust_cfa_offset -32\n"    \
  "  .cfi_restore x29\n"              \
  "  .cfi_restore x30\n"
