// The recorder's clocks, in ns. MonotonicNs and EpochNs use the vDSO (about 20 ns); ThreadCpuNs is a system call.
#pragma once

#include <time.h>

#include <cstdint>

namespace heaprec {

inline uint64_t NowOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}
inline uint64_t MonotonicNs() { return NowOf(CLOCK_MONOTONIC); }
inline uint64_t EpochNs() { return NowOf(CLOCK_REALTIME); }
// CPU time of the calling thread.
inline uint64_t ThreadCpuNs() { return NowOf(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace heaprec
