// What is alive at the end of a recording that tracked objects until they died, in all.
//
// Units:    bytes, objects.
// Threads:  one.
// Memory:   as Lifetimes.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"

namespace heaprec::tools {

struct LiveAtEndTotals {
  uint64_t samples = 0, untracked = 0;
  Estimate bytes, objects;  // ranges without a value where only major collections tell what is dead
};

class LiveAtEnd {
 public:
  explicit LiveAtEnd(const format::FileHeader& header);
  void Add(const format::Block& block);
  // nullopt: none was tracked.
  std::optional<LiveAtEndTotals> Close(uint64_t end_ns);

 private:
  const bool is_imported_;
  std::optional<Lifetimes> lives_;
  std::vector<uint32_t> samples_, live_checkpoint_;
};

}  // namespace heaprec::tools
