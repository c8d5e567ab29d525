// A process whose main thread has ended by pthread_exit ends with its last thread: with ours in it there would be none.
//
// Context:  Watch: setup, the main thread. The rest: drain.
// Failure:  none. What cannot be looked at is taken for a thread of the program's.
#pragma once

namespace heaprec::agent {

void WatchMainThread();
// The main thread has ended, and all threads that are left are ours.
bool OnlyAgentThreadsLeft();
// exit(0), as the C library does then, by a thread that the main thread has left. Returns at once.
void ExitProcess();
// The drain ends: its thread does not keep the process any more, and nothing else of ours may.
void StopWatchingMainThread();

}  // namespace heaprec::agent
