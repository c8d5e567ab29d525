// A descriptor of ours in a process whose program may close it unasked (daemons close all), and may get its number for
// a file of its own: it lies where programs look for none, and tells whether it still leads to our file.
//
// Context:  setup or drain.
// Threads:  one.
// Failure:  a descriptor that was taken from us is -1 from then on, until Reopen; it is never closed by us.
#pragma once

#include <sys/types.h>

#include <string>

namespace heaprec::buffer {

class GuardedFd {
 public:
  GuardedFd() = default;
  // Takes it over, and gives it a high number; -1: none.
  explicit GuardedFd(int descriptor);
  GuardedFd(GuardedFd&& other) noexcept;
  GuardedFd& operator=(GuardedFd&& other) noexcept;
  ~GuardedFd() { Close(); }

  int number() const { return number_; }
  // Whether the number still leads to the file that it led to.
  bool IsOurs() const;
  // Opens `path` again if it is not, and if that is the same file. False: it is not ours.
  bool Reopen(const std::string& path, int flags);
  // Leads to `other`'s file from now on, under the same number if it can: whoever looks at /proc/PID/fd finds one of
  // the two.
  void ReplaceBy(GuardedFd&& other);
  // The same file under a number of its own.
  GuardedFd Duplicate() const;
  void Close();

 private:
  int number_ = -1;
  bool is_known_ = false;  // which file it leads to
  dev_t device_ = 0;
  ino_t file_ = 0;
};

}  // namespace heaprec::buffer
