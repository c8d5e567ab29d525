// How many samples a node usually has in an interval: the mean over the intervals before, the latest counting most.
//
// A node that was not seen for some time is forgotten: it counts as rare.
//
// Units:    samples per interval.
// Threads:  one.
// Maths:    docs/estimates.md#variance
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heaprec::tools {

class EwmaCounts {
 public:
  // What was usual before this interval, in which the node has so many samples: they are then counted.
  double Note(uint64_t node, size_t samples);
  // The node will be noted soon.
  void MarkEmitted(uint64_t node) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[node & (entries_.size() - 1)], 1);
  }
  void EndInterval();

 private:
  // Decaying; a table with open addressing, for most nodes are seen once and looked up once an interval.
  struct Entry {
    uint64_t node = 0;  // 0: free
    uint64_t last = 0;  // intervals_ when `sum` was brought up to date
    double sum = 0;
  };
  Entry* Find(uint64_t node);
  bool IsKnown(const Entry& entry, uint64_t horizon) const;
  void Rebuild();

  uint64_t intervals_ = 0;  // so far
  size_t taken_ = 0;
  std::vector<Entry> entries_;  // a power of two
};

}  // namespace heaprec::tools
