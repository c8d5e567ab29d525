// Before a function is stored into a slot, makes earlier stores visible to those who will call through the slot.
//
// A caller loads the slot, jumps, and loads what the function needs. On aarch64 the last load may be performed first,
// although the slot was stored with release. So all threads execute a fence before the first slot is stored.
//
// Context:  setup and drain.
// Failure:  false if the kernel refuses. On x86-64, where loads are in order, no system call is needed.
#pragma once

namespace heaprec::arch {

// True: every other thread of the process has executed a full memory fence since the call began.
bool FenceThreads();

}  // namespace heaprec::arch
