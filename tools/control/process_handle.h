// One process, and no other that gets its number when it has ended.
//
// By pidfd; where there is none (before Linux 5.3, or forbidden by seccomp) by the process's start time, which is
// compared right before each signal.
//
// Failure:  Open: the process has ended since it was looked at.
#pragma once

#include "format/bytes/result.h"
#include "tools/control/process.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {

class ProcessHandle {
 public:
  static format::Result<ProcessHandle> Open(const Process& process);

  // The process has not ended, or its parent has not yet asked how it did: nobody else has its number.
  bool HoldsNumber() const;
  // False: not sent.
  bool Signal(int signal) const;

 private:
  ProcessHandle(const Process& process, Descriptor pidfd);
  pid_t pid_;
  uint64_t start_ticks_;
  Descriptor pidfd_;  // none: by start time
};

}  // namespace heaprec::tools
