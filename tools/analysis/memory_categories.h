// Native memory of a JVM over time: the JVM's own categories, and the process as the kernel sees it.
//
// Units:    bytes, ns since the start of the recording. 0: not known.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::tools {

struct CategoryBytes {
  uint64_t reserved = 0, committed = 0;
};

struct MemorySnapshot {
  uint64_t time_ns = 0;
  uint64_t rss = 0, pss = 0, not_shared = 0;        // of the process
  std::map<std::string, CategoryBytes> categories;  // as the JVM spells them, in UTF-8; "Total" of all
};

class MemoryTimeline {
 public:
  void Add(const format::Block& block);
  bool has_snapshots() const { return !snapshots_.empty() || !of_heap_.empty(); }
  // Ascending in time. A recording without memory snapshots has the RSS of its heap snapshots.
  std::vector<MemorySnapshot> Snapshots() const;

 private:
  std::map<uint64_t, MemorySnapshot> snapshots_, of_heap_;
};

}  // namespace heaprec::tools
