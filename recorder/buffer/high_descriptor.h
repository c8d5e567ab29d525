// Numbers for descriptors of ours, where programs look for none.
//
// Context:  setup.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heaprec::buffer {

// The same file under a number below the usual limit of 1024 and above what programs count on. With a lower limit its
// own number, but never that of a standard stream that the program has closed; -1 if there is no other.
inline int MovedUp(int descriptor) {
  constexpr int kHigh = 900;
  if (descriptor < 0) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (moved < 0 && descriptor > STDERR_FILENO) return descriptor;
  if (moved < 0) moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  syscall(SYS_close, descriptor);
  return moved;
}

}  // namespace heaprec::buffer
