#include "recorder/agent/options/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "recorder/buffer/own_descriptors.h"
#include "recorder/buffer/write_signals.h"

namespace heaprec::agent {
namespace {
std::atomic<LogLevel> log_level{LogLevel::kWarn};
}  // namespace

void SetLogLevel(LogLevel level) { log_level.store(level, std::memory_order_relaxed); }

void WriteLine(LogLevel level, std::string_view text) {
  if (level > log_level.load(std::memory_order_relaxed)) return;
  const std::string line = fmt::format("heaprec: {}\n", text);
  // One write, so that lines of several processes do not mix. A line that would have to wait is dropped: the program
  // must not wait for a reader of its stderr.
  if (buffer::WouldWait(STDERR_FILENO)) return;
  const buffer::WriteSignals blocked;
  if (write(STDERR_FILENO, line.data(), line.size()) >= 0 || errno != EBADF) return;
  // Closed, or this thread has descriptors of its own.
  const int descriptor = buffer::StandardErrorOfProcess();
  if (descriptor < 0) return;
  if (!buffer::WouldWait(descriptor)) {
    [[maybe_unused]] const ssize_t written = write(descriptor, line.data(), line.size());
  }
  close(descriptor);
}

}  // namespace heaprec::agent
