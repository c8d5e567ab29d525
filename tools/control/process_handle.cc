#include "tools/control/process_handle.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace heaprec::tools {

ProcessHandle::ProcessHandle(const Process& process, Descriptor pidfd)
    : pid_(process.pid), start_ticks_(process.start_ticks), pidfd_(std::move(pidfd)) {}

format::Result<ProcessHandle> ProcessHandle::Open(const Process& process) {
  ProcessHandle handle(process, Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0))));
  // Behind the opening: if the number is the process's now, it was so then.
  if (!handle.HoldsNumber()) return format::Error{fmt::format("PID {}: the process has exited", process.pid)};
  return handle;
}

bool ProcessHandle::HoldsNumber() const { return StartTicks(pid_) == start_ticks_; }

bool ProcessHandle::Signal(int signal) const {
  if (pidfd_.is_open()) {
    if (syscall(SYS_pidfd_send_signal, pidfd_.number(), signal, nullptr, 0) == 0) return true;
    if (errno != ENOSYS && errno != EPERM) return false;
  }
  return HoldsNumber() && kill(pid_, signal) == 0;
}

}  // namespace heaprec::tools
