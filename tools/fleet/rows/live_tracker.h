// What is live in a recording at the ends of its slices, by class and site.
//
// Units:    time in ns since the start of the recording.
// Memory:   what is tracked, and what was born since the last slice ended: 88 bytes each, twice while a slice ends.
// Maths:    docs/estimates.md#live-objects
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/fleet/rows/sums.h"

namespace heaprec::tools::fleet {

struct LiveRow {
  RowKey key;
  LiveState state = LiveState::kLive;
  LiveSums sums;
};

class LiveTracker {
 public:
  using ClassAndSite = std::pair<uint64_t, uint64_t>;

  // Tracks nothing if the recording does not, or if it is an import, whose weights are unknown.
  explicit LiveTracker(const format::FileHeader& header);
  bool tracks() const { return lives_.has_value(); }

  // Every block. `name_of`: a sample's class and site.
  void Add(const format::Block& block, const std::function<ClassAndSite(const format::Sample&)>& name_of);
  // By key. The row of all is there even if nothing is live. Each call is of a later time than the one before.
  std::vector<LiveRow> At(uint64_t time_ns);

 private:
  uint32_t SubjectOf(const ClassAndSite& key);

  std::optional<Lifetimes> lives_;
  std::map<ClassAndSite, uint32_t> subjects_;
  std::vector<ClassAndSite> keys_;  // by subject
  std::vector<uint32_t> samples_, live_checkpoint_;
};

}  // namespace heaprec::tools::fleet
