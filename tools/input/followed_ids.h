// Which samples of a recording are followed and, as far as its blocks so far tell, alive.
//
// Memory:   an id for each, so about FileHeader::live_bound of them; none where nothing is followed.
// Threads:  one.
// Format:   docs/format.md#fates
#pragma once

#include <cstdint>
#include <unordered_set>

#include "format/reader.h"

namespace heaprec::tools {

class FollowedIds {
 public:
  // Every block, in order, of a recording in which objects are followed.
  void Note(const format::Block& block) {
    for (const format::Survivor& survivor : block.survivors) ids_.insert(survivor.sample.id);
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() == format::Stream::kAllocations) ids_.insert(sample.id);
    }
    for (const format::Fate& fate : block.fates) ids_.erase(fate.sample);
  }
  // Whether it is one of them; it is not any longer.
  bool Take(uint64_t id) { return ids_.erase(id) > 0; }
  void Add(uint64_t id) { ids_.insert(id); }

 private:
  std::unordered_set<uint64_t> ids_;
};

}  // namespace heaprec::tools
