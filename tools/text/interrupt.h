// Signals that end a wait (Ctrl-C, kill) but not the command, which then finishes its work. One that comes half
// a second later ends the command at once, unless it is SIGHUP.
//
// Threads:  one.
#pragma once

#include <initializer_list>

namespace heaprec::tools {

// From now on. System calls that wait return with EINTR.
void CatchSignals(std::initializer_list<int> signals);
// Whether one of them has come.
bool IsInterrupted();

}  // namespace heaprec::tools
