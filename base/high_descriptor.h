// Gives heaprec's descriptors numbers that programs do not expect to find in use.
//
// Context:  setup.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heaprec {

constexpr int kHighDescriptor = 900;

// Another descriptor of the same file, with a number of 900 or above, or above 2 if the limit is lower; -1: none is
// free.
inline int DuplicateHigh(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor);
  return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

// Moves the descriptor to a number of 900 or above. If the limit is lower it keeps its number, or moves above 2 if that
// is the number of a standard stream that the program has closed. Returns -1 if no number is free.
inline int MovedUp(int descriptor) {
  if (descriptor < 0 || descriptor >= kHighDescriptor) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (moved < 0 && descriptor > STDERR_FILENO) return descriptor;
  if (moved < 0) moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  syscall(SYS_close, descriptor);
  return moved;
}

}  // namespace heaprec
