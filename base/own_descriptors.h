// Gives a thread its own table of descriptors. A file that it opens never gets a number that the program has just
// closed and counts on (a shell closes 2 before dup2(1, 2)). The program neither lists nor closes such a file. The
// table has none of the program's files, so a pipe ends for its readers although the thread runs.
//
// Context:  a thread of the agent; the threads that it creates share its table.
// Failure:  before Linux 5.9, or if the call is forbidden, the thread continues to use the process' table.
#pragma once

namespace heaprec {

void LeaveSharedDescriptors();
// Opens the process' standard error under a number of the calling thread's table; the caller closes it. -1: there is
// none, or the kernel does not tell.
int StandardErrorOfProcess();

}  // namespace heaprec
