// SIGTRAP while an entry is being patched: a thread that meets the INT3 goes on elsewhere.
//
// Context:  TakeTraps, Redirect: setup and drain, serialised by the caller. The handler: any thread, async-signal-safe.
// Failure:  false when there is no room for another site, or the kernel refuses the handler, or other libraries have
//           taken it back too often.
// A trap that is not ours goes to the handler that was installed before; without one it ends the process as it would
// have. The handler and the sites stay for ever: a thread may have trapped and not yet come to its handler.
#pragma once

#include <cstdint>

namespace heaprec::arch {

// Makes the SIGTRAP handler ours, again if another library took it since.
bool TakeTraps();

// From now on a thread trapped by an INT3 at `site` continues at `to`.
bool Redirect(uintptr_t site, const void* to);

// Whether a thread of this process keeps SIGTRAP blocked: the kernel would end the process at an INT3. True if it
// cannot tell.
bool SomeThreadBlocksTraps();

}  // namespace heaprec::arch
