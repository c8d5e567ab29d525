// Which samples of a recording are tracked and, as far as its blocks so far tell, alive.
//
// Memory:   an id for each, so about FileHeader::max_tracked_objects of them; none where nothing is tracked.
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>
#include <unordered_map>

#include "format/reader/reader.h"

namespace heaprec::tools {

class TrackedIds {
 public:
  // Every block, in order, of a recording in which objects are tracked.
  void Note(const format::Block& block) {
    for (const format::CheckpointSample& checkpoint_sample : block.live_checkpoint)
      left_.emplace(checkpoint_sample.sample.id, checkpoint_sample.left());
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != format::Stream::kExceptions) Add(sample);
    }
    for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) (void)Take(lifecycle);
  }
  void Add(const format::Sample& sample) { left_.emplace(sample.id, sample.size); }
  // Whether it is of one of them, and news. It is not any longer if that ends it.
  bool Take(const format::LifecycleEvent& lifecycle) {
    if (lifecycle.kind != format::LifecycleKind::kShrunk) return left_.erase(lifecycle.sample) > 0;
    const auto found = left_.find(lifecycle.sample);
    if (found == left_.end() || lifecycle.left >= found->second) return false;
    found->second = lifecycle.left;
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> left_;  // bytes that are there still, by id
};

}  // namespace heaprec::tools
