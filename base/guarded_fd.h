// A descriptor of the agent in a process whose program may close it (daemons close all) and reuse its number. It has a
// high number, which programs rarely use, and checks whether it still refers to the agent's file.
//
// Context:  setup or drain.
// Threads:  one.
// Failure:  a descriptor that the program took is -1 from then on, until Reopen; the agent never closes it.
#pragma once

#include <sys/types.h>

#include <string>

namespace heaprec {

class GuardedFd {
 public:
  GuardedFd() = default;
  // Takes the descriptor over and gives it a high number; -1: none.
  explicit GuardedFd(int descriptor);
  GuardedFd(GuardedFd&& other) noexcept;
  GuardedFd& operator=(GuardedFd&& other) noexcept;
  ~GuardedFd() { Close(); }

  int number() const { return number_; }
  // Whether the number still refers to the original file.
  bool IsOurs() const;
  // If it does not, opens `path` again, provided that it is the same file. False: it is not the agent's.
  bool Reopen(const std::string& path, int flags);
  // Refers to `other`'s file from now on, under the same number if possible: a reader of /proc/PID/fd finds one of the
  // two files.
  void ReplaceBy(GuardedFd&& other);
  // The same file under a number of its own; -1, with errno: it is not the agent's any more, or no number is free.
  GuardedFd Duplicate() const;
  void Close();

 private:
  int number_ = -1;
  bool is_known_ = false;  // which file it leads to
  dev_t device_ = 0;
  ino_t file_ = 0;
};

}  // namespace heaprec
