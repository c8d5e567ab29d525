// Is what a recording says of tracked objects consistent with itself?
//
// Checked: each lifecycle event is of a sample that is tracked and has none yet; their order, and thresholds; survivors
// stand in the first block of a chunk, and are those that are alive; what is not tracked, against the counters.
//
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "format/reader/reader.h"

namespace heaprec::tools {

class LifecycleCheck {
 public:
  using Find = std::function<void(std::string)>;

  // Of one stream.
  LifecycleCheck(const format::FileHeader& header, format::Stream stream)
      : stream_(stream), tracks_(header.MaxTracked(stream) > 0), before_(header.start.counters[stream]) {}

  // Every block, in order. `is_gap`: bytes before it were skipped, or it was salvaged.
  void Look(const format::Block& block, bool is_gap, const Find& find);

 private:
  bool HasCheckpoint(const format::Block& block) const;
  void CheckCheckpoint(const format::Block& block, const Find& find);
  void CheckLifecycleEvent(const format::LifecycleEvent& lifecycle, const Find& find);

  const format::Stream stream_;
  const bool tracks_;
  format::StreamCounters before_;
  std::unordered_set<uint64_t> alive_;
  bool knows_all_ = false;  // every sample that may be tracked is known
  bool any_block_ = false;
  uint32_t chunk_ = 0;
  uint64_t last_ns_ = 0;
};

}  // namespace heaprec::tools
