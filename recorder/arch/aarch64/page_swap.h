// Replaces one instruction in code that other threads execute.
//
// The word is never stored where threads execute it. The architecture allows that for a few instructions only; the
// first instruction of a function is usually none of them (Arm Architecture Reference Manual, B2.2.5). A copy of the
// page is changed before anything can execute it, and then mapped in the page's place: a thread fetches from one or
// the other. The kernel changes code in this way for uprobes.
//
// Context:  setup and drain; serialised by the caller.
// Failure:  an Error if the kernel or a security module refuses; then nothing is changed.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace heaprec::arch {

// `site`: a multiple of four. `protection`: of its page (PROT_* bits); it does not change. A thread that executes the
// new word sees everything stored before the call.
Status ReplaceInstruction(uintptr_t site, uint32_t word, int protection);

}  // namespace heaprec::arch
