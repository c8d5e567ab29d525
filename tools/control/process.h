// Information about a process from /proc: whether it is a JVM that this user may attach to, and how to reach its files.
//
// Failure:  LookAt: no such process, or this user may not inspect it; the message is for the user.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

// During its lifetime this thread has the identity, groups and rights of another user. The C library's functions would
// change all threads.
//
// Threads:  used by the thread that created it.
// Failure:  is_active() is false, with errno; nothing has changed then. If the kernel refuses only the supplementary
//           groups (no CAP_SETGID, a user namespace that denies setgroups), the thread keeps its own.

// The identity that the kernel checks when a process accesses files.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
};

class ThreadUser {
 public:
  enum class Scope : uint8_t {
    kFiles,  // created files belong to that user; root loses only its rights over files
    // the effective user, whom a socket reports to the other end; the real one, possibly root, does not change
    kSockets,
  };
  explicit ThreadUser(const Credentials& user, Scope scope = Scope::kFiles);
  ~ThreadUser();
  ThreadUser(const ThreadUser&) = delete;
  ThreadUser& operator=(const ThreadUser&) = delete;
  // Also true without a change, if the thread already had this identity.
  bool is_active() const { return is_active_; }

 private:
  void Restore();

  const Scope scope_;
  Credentials before_;
  bool has_other_groups_ = false, is_active_ = false;
};

// The credentials are the effective ones.
struct Process : Credentials {
  pid_t pid = 0;
  uint64_t start_ticks = 0;   // since boot: distinguishes it from other processes with the same number
  pid_t inner_pid = 0;        // as the process itself sees it: in its pid namespace
  char state = '?';           // as in /proc/PID/status: 'T' is stopped
  bool catches_quit = false;  // without a handler SIGQUIT would end it
  bool same_files = true;     // has our root and mounts, so that paths are the same for both
  std::string libjvm;         // path of its libjvm.so in its files; empty: not a JVM
  std::string agent;          // path of the heaprec agent in it; empty: not loaded
  std::string libc;           // path of its C library; empty: unknown
  std::string folder;         // its working directory in its files; may have been removed
  bool is_waiting = false;    // a recording waits for its delay; the agent has a thread for that

  bool is_jvm() const { return !libjvm.empty(); }
  bool is_stopped() const { return state == 'T' || state == 't'; }
  // Folder below which its paths are, for OpenBelow; empty: they are ours.
  std::string root() const;
};

// Also reads the memory map, which needs the same user or root.
Result<Process> LookAt(pid_t pid);

// Returns the start time of the process with this number, in clock ticks since boot; 0: none.
uint64_t StartTicks(pid_t pid);

// Returns the PIDs of the processes that this user may inspect (all of them for root).
std::vector<pid_t> OwnProcesses();

std::string UserName(uid_t uid);

// Returns "java": the kernel's name for the process; empty: none.
std::string CommandName(pid_t pid);

// Refers to one process, even if another one gets its number later.
//
// Uses a pidfd; if that is not available (before Linux 5.3, or forbidden by seccomp) compares the process's start time
// right before each signal.
//
// Failure:  Open: the process has ended since it was inspected.
class ProcessHandle {
 public:
  static Result<ProcessHandle> Open(const Process& process);

  // Returns true if the process has not ended, or has not been reaped: no other process has its number.
  bool HoldsNumber() const;
  // Returns false if the signal was not sent.
  bool Signal(int signal) const;

 private:
  ProcessHandle(const Process& process, Descriptor pidfd);
  pid_t pid_;
  uint64_t start_ticks_;
  Descriptor pidfd_;  // not open: uses the start time
};

}  // namespace heaprec::tools
