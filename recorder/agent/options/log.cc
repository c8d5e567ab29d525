#include "recorder/agent/options/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "recorder/buffer/write_signals.h"

namespace heaprec::agent {
namespace {
std::atomic<LogLevel> log_level{LogLevel::kWarn};
}  // namespace

void SetLogLevel(LogLevel level) { log_level.store(level, std::memory_order_relaxed); }

void WriteLine(LogLevel level, std::string_view text) {
  if (level > log_level.load(std::memory_order_relaxed)) return;
  const std::string line = fmt::format("heaprec: {}\n", text);
  // One write, so that lines of several processes do not mix; a stderr that is gone is not our concern.
  const buffer::WriteSignals blocked;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace heaprec::agent
