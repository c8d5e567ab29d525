// Signals that end a wait (Ctrl-C, kill) but not the command, which then finishes its work. One that comes at
// least 500 ms after the first ends the command at once; SIGHUP never does.
#pragma once

#include <initializer_list>

namespace heaprec::tools {

// From now on, waiting system calls return with EINTR.
void CatchSignals(std::initializer_list<int> signals);
// Whether one of them has arrived.
bool IsInterrupted();

}  // namespace heaprec::tools
