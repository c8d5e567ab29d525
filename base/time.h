// Time in ns: the clocks, and durations as users write them. MonotonicNs and EpochNs use the vDSO (about 20 ns);
// ThreadCpuNs is a system call.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heaprec {

inline constexpr uint64_t kNsPerSecond = 1'000'000'000;

constexpr uint64_t NanosecondsOf(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

inline uint64_t NowOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return NanosecondsOf(now);
}
inline uint64_t MonotonicNs() { return NowOf(CLOCK_MONOTONIC); }
inline uint64_t EpochNs() { return NowOf(CLOCK_REALTIME); }
// CPU time of the calling thread.
inline uint64_t ThreadCpuNs() { return NowOf(CLOCK_THREAD_CPUTIME_ID); }

// Durations as users write them, in the options of the agent and of every command.
//
// Units:    ns.
// Failure:  nullopt: the text is not a duration.

// "10s", "250ms", "1.5h", "1m30s": numbers with the units ns, us, ms, s, m or min, h, d. Or a number of seconds: "60".
std::optional<uint64_t> ParseDuration(std::string_view text);
// The same, but each number needs a unit.
std::optional<uint64_t> ParseDurationWithUnits(std::string_view text);

// "90s", "250ms": one number with the largest unit up to seconds that it is a multiple of.
std::string DurationText(uint64_t ns);

}  // namespace heaprec
