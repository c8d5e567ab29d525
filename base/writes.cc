#include "base/writes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptors.h"

namespace heaprec {
namespace {

constexpr int kRaised[] = {SIGXFSZ, SIGPIPE};
constexpr size_t kKernelSetBytes = _NSIG / 8;

constinit FileIdentity output, error_output;

// A standard stream stays open after exec. A descriptor with close-on-exec is a file that the program itself has
// opened: an agent may attach to a JVM that has run for a while.
FileIdentity StreamOf(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0 ? IdentityOf(descriptor) : FileIdentity{};
}

// Runs before any constructor that prints or opens files.
__attribute__((constructor(101))) void NoteStandardStreams() {
  const int error = errno;
  output = StreamOf(STDOUT_FILENO);
  error_output = StreamOf(STDERR_FILENO);
  errno = error;
}

bool IsLog(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0;
}

}  // namespace

WriteSignals::WriteSignals() {
  const int error = errno;
  sigset_t both;
  sigemptyset(&both);
  for (const int signal : kRaised) sigaddset(&both, signal);
  pthread_sigmask(SIG_BLOCK, &both, &mask_before_);
  sigpending(&pending_before_);
  errno = error;
}

WriteSignals::~WriteSignals() {
  const int error = errno;
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : kRaised) {
    if (sigismember(&pending, signal) != 1 || sigismember(&pending_before_, signal) == 1) continue;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    const timespec at_once{};
    // Uses the system call, because sigtimedwait is a cancellation point.
    (void)syscall(SYS_rt_sigtimedwait, &one, nullptr, &at_once, kKernelSetBytes);
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  errno = error;
}

// Uses ppoll, because poll is a cancellation point and aarch64 has no such system call.
bool WouldWait(int descriptor) {
  const int error = errno;
  pollfd one{descriptor, POLLOUT, 0};
  timespec at_once{};
  const bool would_wait = syscall(SYS_ppoll, &one, 1, &at_once, nullptr, kKernelSetBytes) == 0;
  errno = error;
  return would_wait;
}

bool IsStandardError(int descriptor) {
  const int error = errno;
  const FileIdentity file = IdentityOf(descriptor);
  const bool is =
      (file.is_known && (file == error_output || file == output)) || (error_output.is_known && IsLog(descriptor));
  errno = error;
  return is;
}

int StandardErrorOfProcess() {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0U));
  if (process < 0) return -1;
  const auto found = static_cast<int>(syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0U));
  close(process);
  return found;
}

}  // namespace heaprec
