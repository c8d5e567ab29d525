// Which samples of a recording are followed and, as far as its blocks so far tell, alive.
//
// Memory:   an id for each, so about FileHeader::live_bound of them; none where nothing is followed.
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>
#include <unordered_map>

#include "format/reader.h"

namespace heaprec::tools {

class FollowedIds {
 public:
  // Every block, in order, of a recording in which objects are followed.
  void Note(const format::Block& block) {
    for (const format::Survivor& survivor : block.survivors) left_.emplace(survivor.sample.id, survivor.left());
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != format::Stream::kExceptions) Add(sample);
    }
    for (const format::Fate& fate : block.fates) (void)Take(fate);
  }
  void Add(const format::Sample& sample) { left_.emplace(sample.id, sample.size); }
  // Whether it is of one of them, and news. It is not any longer if that ends it.
  bool Take(const format::Fate& fate) {
    if (fate.kind != format::FateKind::kShrunk) return left_.erase(fate.sample) > 0;
    const auto found = left_.find(fate.sample);
    if (found == left_.end() || fate.left >= found->second) return false;
    found->second = fate.left;
    return true;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> left_;  // bytes that are there still, by id
};

}  // namespace heaprec::tools
