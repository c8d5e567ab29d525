// For writes of the agent, which must neither end the program nor make it wait.
//
// Context:  any: system calls only, none of them a cancellation point; errno is kept.
// Failure:  none: writes in between still fail with EFBIG and EPIPE.
#pragma once

#include <signal.h>

namespace heaprec {

// Keeps the signals of failed writes away from the program: SIGXFSZ (RLIMIT_FSIZE) and SIGPIPE. Both end a process that
// does not expect them. Blocks the two in the calling thread during its lifetime, then consumes those raised meanwhile.
// Signals that were pending before stay pending.
class WriteSignals {
 public:
  WriteSignals();
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  sigset_t mask_before_, pending_before_;
};

// Whether a write of at most PIPE_BUF bytes would block: the pipe is full, or the terminal is stopped.
bool WouldWait(int descriptor);

// Whether a file is the program's standard error. A program that was started without one , or that closes it, reuses
// its number for the next file that it opens. A message of heaprec would then be written into that file.
//
// Context:  any: system calls only; errno is kept.
// Failure:  if the program has replaced its standard error by a pipe, a socket or a file that is not opened for
//           appending, this is not recognized as its standard error.
//
// `descriptor`: 2, or a copy of it from the process' table. True if it is what 1 or 2 was when this library was loaded
// (2>&1 is meant then), or if 2 was open then and is a log now: a file that is opened for appending.
bool IsStandardError(int descriptor);

// Opens the process' standard error under a new number in the calling thread's table; the caller closes it. Returns -1
// if there is none or the kernel does not say.
int StandardErrorOfProcess();

}  // namespace heaprec
