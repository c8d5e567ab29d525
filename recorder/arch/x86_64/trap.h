// Handles SIGTRAP while an entry is being patched: a thread that executes the INT3 continues elsewhere.
//
// Context:  TakeTraps, Redirect: setup and drain, serialised by the caller. The handler: any
//           thread, async-signal-safe.
// Failure:  false if there is no entry for another site, the kernel refuses the handler, or other libraries have
//           replaced it too often.
// A foreign trap goes to the previous handler; without one it ends the process, as it would without heaprec. The
// handler and the sites are never removed: a thread may have trapped and not yet reached its handler.
#pragma once

#include <cstdint>

namespace heaprec::arch {

// Installs the SIGTRAP handler, again if another library has replaced it.
bool TakeTraps();

// From now on a thread trapped by an INT3 at `site` continues at `to`.
bool Redirect(uintptr_t site, const void* to);

// Whether a thread of this process blocks SIGTRAP; the kernel would then end the process at an INT3. True if that is
// unknown.
bool SomeThreadBlocksTraps();

}  // namespace heaprec::arch
