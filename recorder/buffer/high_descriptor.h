// Moves heaprec's descriptors to numbers that programs do not expect to find in use.
//
// Context:  setup.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heaprec::buffer {

// Moves the descriptor to a number of 900 or above. If the limit is lower it keeps its number, or moves above 2 if that
// is the number of a standard stream that the program has closed. Returns -1 if no number is free.
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
