// The clocks, in ns. MonotonicNs and EpochNs use the vDSO (about 20 ns); ThreadCpuNs is a system call.
#pragma once

#include <time.h>

#include <cstdint>

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

}  // namespace heaprec
