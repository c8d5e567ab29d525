// The blocks of a row interval as one, so that its rows are of the same points as its intervals and samples.
//
// Format:   docs/format/recording.md#row-intervals
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::format {

// Both ascending in time.
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

// Blocks of one chunk go in, in their order; out come blocks whose rows are their own.
class RowIntervalJoiner {
 public:
  // The block to give out now, if there is one. It may be followed by another: Next.
  std::optional<Block> Add(Block block);
  // What Add could not give out yet, because one came before it.
  std::optional<Block> Next() { return std::exchange(next_, std::nullopt); }
  // What is there of an interval that is still open. Null: nothing.
  const Block* open() const { return open_ ? &*open_ : nullptr; }
  std::optional<Block> TakeOpen();

 private:
  std::optional<Block> Begin(Block block);

  std::optional<Block> open_, next_;
};

}  // namespace heaprec::format
