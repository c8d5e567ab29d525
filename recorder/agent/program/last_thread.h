// A process whose main thread has ended by pthread_exit ends with its last thread, so the agent's threads must
// not stay.
//
// Context:  WatchMainThread: setup, the main thread. IsOnlyProgramThread, WaitForAgentThreads: any program thread.
//           The others: drain.
// Failure:  none. A thread that cannot be examined counts as one of the program's.
#pragma once

namespace heaprec::agent {

// `end`: called on the main thread when it ends and ExitProcess cannot be prepared. It ends the recording and its
// threads, so that none of them keeps the process alive.
void WatchMainThread(void (*end)());
// Whether the calling thread is the only one that is not the agent's.
bool IsOnlyProgramThread();
// Whether the main thread has ended and all remaining threads are the agent's.
bool OnlyAgentThreadsLeft();
// Waits until the threads of a stopped recording have ended, for about five seconds at most: they may wait for the
// disk. Returns whether they have. Not for signal handlers.
bool WaitForAgentThreads();
// Runs exit(0), as the C library does then, on a thread that was started when the main thread ended. Returns at once.
void ExitProcess();
// Call when the drain ends: no thread of the agent keeps the process alive any more.
void StopWatchingMainThread();

}  // namespace heaprec::agent
