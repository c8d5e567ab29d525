#include "recorder/sources/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "base/descriptors.h"
#include "base/writes.h"

namespace heaprec {
namespace {
std::atomic<LogLevel> log_level{LogLevel::kWarn};

// Uses one write, so that lines of several processes do not mix. Drops a line that would block, because the program
// must not wait for a reader of its stderr. Returns false if the descriptor is not the program's stderr.
bool WriteTo(int descriptor, std::string_view line) {
  if (!IsStandardError(descriptor)) return false;
  if (WouldWait(descriptor)) return true;
  const WriteSignals blocked;
  return write(descriptor, line.data(), line.size()) >= 0 || errno != EBADF;
}

void WriteToStandardError(std::string_view line) {
  if (WriteTo(STDERR_FILENO, line)) return;
  // The descriptor is closed or refers to another file, or this thread has its own descriptors.
  const int descriptor = StandardErrorOfProcess();
  if (descriptor < 0) return;
  (void)WriteTo(descriptor, line);
  close(descriptor);
}

bool IsLogged(LogLevel level) { return level <= log_level.load(std::memory_order_relaxed); }
}  // namespace

void SetLogLevel(LogLevel level) { log_level.store(level, std::memory_order_relaxed); }

void WriteLine(LogLevel level, std::string_view text) {
  if (IsLogged(level)) WriteToStandardError(fmt::format("heaprec: {}\n", text));
}

std::string SampleCount(uint64_t samples) {
  std::string digits = fmt::to_string(samples);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits + (samples == 1 ? " sample" : " samples");
}

void LogOutOfMemory() {
  if (IsLogged(LogLevel::kError)) WriteToStandardError("heaprec: not recording: out of memory\n");
}

}  // namespace heaprec
