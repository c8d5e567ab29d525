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

}  // namespace heaprec
