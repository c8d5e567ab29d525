// Orders what is stored before a function is put into a slot before what a caller of the slot reads.
//
// A caller reads the slot, jumps, and reads what the function needs: on aarch64 the last read may come first, although
// the slot was stored with release. So all threads run a fence before the first slot is stored.
//
// Context:  setup and drain.
// Failure:  false where the kernel refuses; on x86-64, where reads are in order, nothing is asked of it.
#pragma once

namespace heaprec::arch {

// Every other thread of the process has run a full memory fence since the call began.
bool FenceThreads();

}  // namespace heaprec::arch
