// Keeps the signals of writes that fail from the program: SIGXFSZ (RLIMIT_FSIZE) and SIGPIPE. Both end a process that
// does not expect them, and a program need not expect them for writes that are not its own.
//
// Blocks the two in the calling thread while it lives, then takes back those that were raised meanwhile. What was
// pending before stays pending.
//
// Context:  any: system calls only, none of them a cancellation point; errno is kept.
// Failure:  none: the calls between fail with EFBIG and EPIPE as ever.
#pragma once

#include <signal.h>

namespace heaprec::buffer {

class WriteSignals {
 public:
  WriteSignals();
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  sigset_t mask_before_, pending_before_;
};

}  // namespace heaprec::buffer
