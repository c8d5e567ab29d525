// For writes of the agent, which must neither end the program nor make it wait.
//
// Context:  any: system calls only, none of them a cancellation point; errno is kept.
// Failure:  none: the calls between fail with EFBIG and EPIPE as ever.
#pragma once

#include <signal.h>

namespace heaprec {

// Keeps the signals of writes that fail from the program: SIGXFSZ (RLIMIT_FSIZE) and SIGPIPE. Both end a process that
// does not expect them. Blocks the two in the calling thread while it lives, then takes back those that were raised
// meanwhile. What was pending before stays pending.
class WriteSignals {
 public:
  WriteSignals();
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  sigset_t mask_before_, pending_before_;
};

// Whether a write of at most PIPE_BUF bytes would wait: for a reader of a full pipe, or for a terminal that was
// stopped.
bool WouldWait(int descriptor);

// Whether a file is the program's standard error. A program that was started without one gets its number for the next
// file that it opens, as does a program that closes it: a line of heaprec's would become part of that file.
//
// Context:  any: system calls only; errno is kept.
// Failure:  if the program has replaced its standard error by a pipe, a socket or a file that is not opened for
//           appending, this is not recognized as its standard error.
//
// `descriptor`: 2, or a copy of it from the process' table. True if it is what 1 or 2 was when this library was loaded
// (2>&1 is meant then), or if 2 was open then and is a log now: a file that is opened for appending.
bool IsStandardError(int descriptor);

// Opens the process' standard error under a number of the calling thread's table; the caller closes it. -1: there is
// none, or the kernel does not tell.
int StandardErrorOfProcess();

}  // namespace heaprec
