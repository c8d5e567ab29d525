#include "base/write_signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace heaprec {
namespace {

constexpr int kRaised[] = {SIGXFSZ, SIGPIPE};
constexpr size_t kKernelSetBytes = _NSIG / 8;

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
    // The system call: sigtimedwait is a cancellation point.
    (void)syscall(SYS_rt_sigtimedwait, &one, nullptr, &at_once, kKernelSetBytes);
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  errno = error;
}

// ppoll, as poll is a cancellation point, and aarch64 has no such call.
bool WouldWait(int descriptor) {
  const int error = errno;
  pollfd one{descriptor, POLLOUT, 0};
  timespec at_once{};
  const bool would_wait = syscall(SYS_ppoll, &one, 1, &at_once, nullptr, kKernelSetBytes) == 0;
  errno = error;
  return would_wait;
}

}  // namespace heaprec
