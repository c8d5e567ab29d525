// What a JVM had in memory beside its heap, over time: the JVM's own categories, and the process as the kernel sees it.
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

struct MemoryLook {
  uint64_t time_ns = 0;
  uint64_t rss = 0, pss = 0, not_shared = 0;        // of the process
  std::map<std::string, CategoryBytes> categories;  // as the JVM spells them, in UTF-8; "Total" of all
};

class MemoryCourse {
 public:
  void Add(const format::Block& block);
  bool has_looks() const { return !looks_.empty(); }
  // Ascending in time. Of a recording without such looks: the resident bytes that came with those at the heap.
  std::vector<MemoryLook> Looks() const;

 private:
  std::map<uint64_t, MemoryLook> looks_, of_heap_;
};

}  // namespace heaprec::tools
