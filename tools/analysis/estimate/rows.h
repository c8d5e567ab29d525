// Rows in place of samples: what code that groups samples by class, path and time needs to take a block's rows instead.
//
//   if (by_rows(block)) {
//     drawn = design.Add(block, true);
//     block.samples = SamplesOfRows(block, interval_ns);   // drawn[i].index is into these, too
//   }
//
// Units:    ns since the start of the recording.
// Context:  pure functions.
// Maths:    docs/estimates.md#rows
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

// Whether a block is read from its rows; empty: none is. Any thread calls it. All passes over a recording whose results
// meet have the same rule.
using ByRows = std::function<bool(const format::Block&)>;

struct TimeOfRows {
  uint64_t begin_ns = 0, end_ns = 0;  // half open
};
// The time of the intervals that a block's rows are of. nullopt: it has no rows, or they have no time.
std::optional<TimeOfRows> TimeOf(const format::Block& block, uint64_t interval_ns);

// One for each row, in their order: of its class and path, in the middle of the block's time. Everything else of them
// means nothing.
std::vector<format::Sample> SamplesOfRows(const format::Block& block, uint64_t interval_ns);

}  // namespace heaprec::tools
