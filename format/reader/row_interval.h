// Joins the blocks of a row interval, so that its rows cover the same points as its intervals and samples.
//
// Format:   docs/format/recording.md#row-intervals
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::format {

// Both are ascending in time.
template <typename Timed>
void MergeByTime(std::vector<Timed>&& from, std::vector<Timed>* into) {
  const auto before = static_cast<std::ptrdiff_t>(into->size());
  if (before == 0) {
    *into = std::move(from);
    return;
  }
  into->insert(into->end(), from.begin(), from.end());
  std::inplace_merge(into->begin(), into->begin() + before, into->end(),
                     [](const Timed& a, const Timed& b) { return a.time_ns < b.time_ns; });
}

// Takes the blocks of one chunk in order; returns blocks whose rows are their own.
class RowIntervalJoiner {
 public:
  // Returns the next complete block, if any. A second one may follow: see Next.
  std::optional<Block> Add(Block block);
  // Returns a block that Add had to hold back, because it returned an earlier one.
  std::optional<Block> Next() { return std::exchange(next_, std::nullopt); }
  // The joined blocks of an interval that is still open; null: none.
  const Block* open() const { return open_ ? &*open_ : nullptr; }
  std::optional<Block> TakeOpen();

 private:
  std::optional<Block> Begin(Block block);

  std::optional<Block> open_, next_;
};

}  // namespace heaprec::format
