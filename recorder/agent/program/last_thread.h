// If the main thread ends by pthread_exit, the process ends with its last thread, so the agent's threads must end, too.
//
// Context:  WatchMainThread: setup, the main thread. IsOnlyProgramThread, WaitForAgentThreads: any program thread.
//           The others: drain.
// Failure:  none. A thread that cannot be examined counts as one of the program's.
#pragma once

namespace heaprec::agent {

// `end` is called on the main thread when it ends, if ExitProcess cannot be prepared. It ends the recording and its
// threads, so that they do not keep the process alive.
void WatchMainThread(void (*end)());
// Whether all threads except the calling one are the agent's.
bool IsOnlyProgramThread();
// Whether the main thread has ended and all remaining threads are the agent's.
bool OnlyAgentThreadsLeft();
// Waits until the threads of a stopped recording have ended, at most for about five seconds, because they may wait for
// the disk. Returns whether they have ended. Not for signal handlers.
bool WaitForAgentThreads();
// Runs exit(0), as the C library does in this case, on a thread that was started when the main thread ended. Returns at
// once.
void ExitProcess();
// Call when the drain ends: no thread of the agent keeps the process alive any more.
void StopWatchingMainThread();

}  // namespace heaprec::agent
