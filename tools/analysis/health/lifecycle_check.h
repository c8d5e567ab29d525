// Is what a recording says of followed objects consistent with itself?
//
// Checked: each fate is of a sample that is followed and has none yet; their order, and thresholds; survivors stand in
// the first block of a chunk, and are those that are alive; what is not followed, against the books.
//
// Threads:  one.
// Format:   docs/format/recording.md#lifecycle-events
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "format/reader.h"

namespace heaprec::tools {

class FateCheck {
 public:
  using Find = std::function<void(std::string)>;

  // Of one stream.
  FateCheck(const format::FileHeader& header, format::Stream stream)
      : stream_(stream), follows_(header.BoundOf(stream) > 0), before_(header.start.books[stream]) {}

  // Every block, in order. `is_gap`: bytes before it were skipped, or it was salvaged.
  void Look(const format::Block& block, bool is_gap, const Find& find);

 private:
  bool HasSurvivors(const format::Block& block) const;
  void LookAtSurvivors(const format::Block& block, const Find& find);
  void LookAtFate(const format::Fate& fate, const Find& find);

  const format::Stream stream_;
  const bool follows_;
  format::Books before_;
  std::unordered_set<uint64_t> alive_;
  bool knows_all_ = false;  // every sample that may be followed is known
  bool any_block_ = false;
  uint32_t chunk_ = 0;
  uint64_t last_ns_ = 0;
};

}  // namespace heaprec::tools
