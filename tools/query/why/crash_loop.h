// What the ends of several processes have in common: those of a container that is restarted again and again.
//
// Units:    bytes; ns since 1970; ns since the start of a recording.
// Failure:  none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/query/why/explanation.h"

namespace heaprec::tools {

struct ProcessEnd {
  std::string file;
  uint64_t end_epoch_ns = 0, lived_ns = 0;
  EndVerdict verdict;
  std::string cause;                                 // CauseOf
  std::vector<GrownOwner> grown;                     // the fastest first
  std::string leak;                                  // the fastest growing site; empty: none
  std::optional<uint64_t> heap_limit, memory_limit;  // nullopt: not known, or none

  bool is_over() const;  // whether the recording has the end of the process
};

ProcessEnd EndOf(const Explanation& one);

// The most frequent value among the ends.
template <typename T>
struct Shared {
  T value{};
  size_t ends = 0;  // that have it; 0: there is none
};

struct CrashLoop {
  size_t ends = 0;  // that are over; the others count nowhere
  Shared<std::string> cause, grown, leak;
  Shared<uint64_t> heap_limit, memory_limit;
  std::optional<Estimate> grown_per_second;                // of the owner `grown`: median, lowest, highest
  uint64_t lived_ns = 0, shortest_ns = 0, longest_ns = 0;  // median and range
  const ProcessEnd* typical = nullptr;                     // the latest with this cause
};

// `ends`: in order of time; must outlive the result.
CrashLoop CrashLoopOf(const std::vector<ProcessEnd>& ends);

}  // namespace heaprec::tools
