// A thread's own table of descriptors. A file that it opens never takes a number that the program has just closed and
// counts on (a shell closes 2 before dup2(1, 2)), is not among those that the program lists, and cannot be closed by
// it. Nothing that the program has open is in the table: who waits for the end of a pipe does not wait for us.
//
// Context:  a thread of ours; the threads that it creates share its table.
// Failure:  before Linux 5.9, or where the call is forbidden, the table stays that of the process.
#pragma once

namespace heaprec::buffer {

void LeaveSharedDescriptors();
// What the process has as standard error, under a number of the calling thread's, who closes it; -1: nothing, or the
// kernel does not tell.
int StandardErrorOfProcess();

}  // namespace heaprec::buffer
