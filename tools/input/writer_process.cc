#include "tools/input/writer_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "base/time.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {
namespace {

// Many ticks of the drain (20 to 100 ms), to allow for a stalled machine.
constexpr uint64_t kHeartbeatNs = 5'000'000'000;
// The start time of a process is known to a clock tick (10 ms).
constexpr double kStartSlackSeconds = 1;

std::string BootId() { return ReadSmallFile("/proc/sys/kernel/random/boot_id"); }

double Seconds(clockid_t clock) { return static_cast<double>(NowOf(clock)) * 1e-9; }

bool SameBoot(const format::FileHeader& header) {
  const std::string boot = BootId();
  return header.boot_id.empty() || boot.empty() || boot.starts_with(header.boot_id) ||
         header.boot_id.starts_with(std::string_view(boot).substr(0, boot.find('\n')));
}

bool SameContainer(const format::FileHeader& header) {
  const auto is_in = [&](const char* path) {
    return ReadSmallFile(path).find(header.container_id) != std::string::npos;
  };
  return header.container_id.empty() || is_in("/proc/self/cgroup") || is_in("/proc/self/mountinfo");
}

// Returns the n-th field of /proc/PID/stat, counted from the state (field 3 of proc(5)) as 0: the name before it may
// contain spaces.
std::string_view StatField(std::string_view stat, int n) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  stat.remove_prefix(std::min(name_end + 2, stat.size()));
  for (; n > 0; --n) {
    const size_t space = stat.find(' ');
    if (space == std::string_view::npos) return {};
    stat.remove_prefix(space + 1);
  }
  return stat.substr(0, stat.find(' '));
}

bool ProcessLives(const format::FileHeader& header) {
  constexpr int kState = 0, kStartTime = 19;
  const std::string stat = ReadSmallFile(fmt::format("/proc/{}/stat", header.pid));
  const std::string_view state = StatField(stat, kState);
  if (state.empty() || state == "Z" || state == "X") return false;
  const double ticks = std::strtod(std::string(StatField(stat, kStartTime)).c_str(), nullptr);
  const double started = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));  // on CLOCK_BOOTTIME
  const double suspended = Seconds(CLOCK_BOOTTIME) - Seconds(CLOCK_MONOTONIC);
  return started - suspended <= static_cast<double>(header.start_monotonic_ns) * 1e-9 + kStartSlackSeconds;
}

}  // namespace

bool WriterIsAlive(const format::FileHeader& header, std::optional<uint64_t> heartbeat_ns) {
  if (!SameBoot(header)) return false;
  if (SameContainer(header)) return ProcessLives(header);
  if (!heartbeat_ns) return false;
  return MonotonicNs() < *heartbeat_ns + kHeartbeatNs;
}

std::optional<double> WallClockMoved(const format::FileHeader& header) {
  if (header.boot_id.empty() || header.start_monotonic_ns == 0 || !BootId().starts_with(header.boot_id)) {
    return std::nullopt;
  }
  const double apart_now = Seconds(CLOCK_REALTIME) - Seconds(CLOCK_MONOTONIC);
  // Each exceeds 1e18 ns, so they are subtracted before the conversion to double.
  const auto apart_then = static_cast<double>(static_cast<int64_t>(header.start_epoch_ns - header.start_monotonic_ns));
  return apart_now - apart_then * 1e-9;
}

}  // namespace heaprec::tools
