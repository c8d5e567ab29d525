#include "base/own_descriptors.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heaprec {

void LeaveSharedDescriptors() {
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  if (syscall(SYS_close_range, 0U, ~0U, kUnshare) != 0) return;
  // A file that is opened for a moment is not to be standard error: what is written there fails.
  for (int number = STDIN_FILENO; number == STDIN_FILENO || number == STDOUT_FILENO;) {
    number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

int StandardErrorOfProcess() {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0U));
  if (process < 0) return -1;
  const auto found = static_cast<int>(syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0U));
  close(process);
  return found;
}

}  // namespace heaprec
