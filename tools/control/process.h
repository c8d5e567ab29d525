// What /proc tells of one process: whether it is a JVM that this user may attach to, and how to reach its files.
//
// Failure:  LookAt: no such process, or none that this user may look at; the sentence is for the user.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/thread_user.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

// The credentials are the effective ones.
struct Process : Credentials {
  pid_t pid = 0;
  uint64_t start_ticks = 0;   // since boot: tells it from others that had, or will have, the number
  pid_t inner_pid = 0;        // as the process itself sees it: in its pid namespace
  char state = '?';           // as in /proc/PID/status: 'T' is stopped
  bool catches_quit = false;  // without a handler SIGQUIT would end it
  bool same_files = true;     // it has our root and mounts: a path means the same to it and to us
  std::string libjvm;         // path of its libjvm.so as it sees it; empty: not a JVM
  std::string agent;          // path of the heaprec agent in it; empty: not loaded
  std::string libc;           // path of its C library; empty: unknown
  std::string folder;         // in which it works, as it sees it; may have gone
  bool is_waiting = false;    // a recording waits for its delay: the agent has a thread for that

  bool is_jvm() const { return !libjvm.empty(); }
  bool is_stopped() const { return state == 'T' || state == 't'; }
  // Below which its paths lie, for OpenBelow; empty: they are ours.
  std::string root() const;
};

// Reads the memory map too, which needs the same user or root.
Result<Process> LookAt(pid_t pid);

// When the process of this number started, in clock ticks since boot; 0: there is none.
uint64_t StartTicks(pid_t pid);

// Numbers in /proc of the processes that this user may look at (all of them for root).
std::vector<pid_t> OwnProcesses();

// The start of a small file, or of a file of /proc; empty if it cannot be read.
std::string ReadSmallFile(const std::string& path, size_t most = size_t{1} << 20);

std::string UserName(uid_t uid);

// "java": the kernel's name for the process; empty: there is none.
std::string CommandName(pid_t pid);

// One process, and no other that gets its number when it has ended.
//
// By pidfd; where there is none (before Linux 5.3, or forbidden by seccomp) by the process's start time, which is
// compared right before each signal.
//
// Failure:  Open: the process has ended since it was looked at.
class ProcessHandle {
 public:
  static Result<ProcessHandle> Open(const Process& process);

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
