// Replaces one instruction of code that other threads run.
//
// The word is never stored where it is executed: the architecture allows that for a few instructions only, among which
// what a function begins with is not (Arm Architecture Reference Manual, B2.2.5). A copy of the page is changed before
// anything can run it, and then mapped in the place of the page: a thread fetches from the one or the other. The kernel
// changes code in this way for uprobes.
//
// Context:  setup and drain; serialised by the caller.
// Failure:  an Error when the kernel or a security module refuses; nothing is changed then.
#pragma once

#include <cstdint>
#include <variant>

#include "format/bytes/result.h"

namespace heaprec::arch {

// `site`: a multiple of four. `protection`: of its page (PROT_* bits), as it was and stays. What is stored before is
// seen by whoever runs the new word.
format::Result<std::monostate> ReplaceInstruction(uintptr_t site, uint32_t word, int protection);

}  // namespace heaprec::arch
