// The thresholds at which samples were released from being tracked, over time: the highest of any span.
//
// Units:    time in ns since the start of the recording; thresholds in bytes.
// Threads:  one; any after Close.
// Memory:   24 bytes for each release.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heaprec::tools {

class EvictionThresholds {
 public:
  void Add(uint64_t time_ns, double threshold) { releases_.emplace_back(time_ns, threshold); }
  // Drops the releases up to then. Before Close.
  void Forget(uint64_t time_ns) {
    std::erase_if(releases_, [time_ns](const auto& release) { return release.first <= time_ns; });
  }
  // After the last Add, before the first Highest.
  void Close();
  // Of the releases from `from_ns` to `to_ns`, both included; 0: there was none.
  double Highest(uint64_t from_ns, uint64_t to_ns) const;

 private:
  std::vector<std::pair<uint64_t, double>> releases_;  // by time
  std::vector<double> highest_;  // a binary tree in an array: the leaves are the releases, a parent the higher of both
};

}  // namespace heaprec::tools
