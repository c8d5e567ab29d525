#include "format/reader/row_interval.h"

#include <iterator>

#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

template <typename Entry>
void Append(std::vector<Entry>&& from, std::vector<Entry>* into) {
  into->insert(into->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// `next`: the block directly after it.
void Join(Block next, Block* into) {
  into->sequence = next.sequence;
  into->end_ns = next.end_ns;
  into->counters = next.counters;
  into->lane_positions = std::move(next.lane_positions);
  Append(std::move(next.windows), &into->windows);
  Append(std::move(next.intervals), &into->intervals);
  MergeByTime(std::move(next.samples), &into->samples);
  into->rows = std::move(next.rows);
  into->outside = std::move(next.outside);
  Append(std::move(next.states), &into->states);
  MergeByTime(std::move(next.lifecycle_events), &into->lifecycle_events);
  Append(std::move(next.live_checkpoint), &into->live_checkpoint);
  Append(std::move(next.census), &into->census);
  Append(std::move(next.census_totals), &into->census_totals);
  into->census_counters = next.census_counters;
  into->census_page = next.census_page;
  into->ending = std::move(next.ending);
  into->skipped_bytes = next.skipped_bytes;
  into->lost_names = next.lost_names;
  into->starts_names |= next.starts_names;
  into->dictionaries = next.dictionaries;
}

// Limits the memory for an interval, even if the file is invalid.
bool FitsBehind(const Block& block, const Block& open) {
  const auto entries = [](const Block& of) {
    return of.windows.size() + of.intervals.size() + of.samples.size() + of.states.size() + of.lifecycle_events.size() +
           of.live_checkpoint.size() + of.census.size() + of.census_totals.size();
  };
  return entries(open) + entries(block) <= kMaxBlockRows;
}

// For a block of an interval of which blocks are missing.
Block WithoutRows(Block block) {
  block.rows.clear();
  block.outside.clear();
  return block;
}

// If an interval has no rows, they are lost.
void SettleRows(Block* block) {
  if (!block->rows.empty() || !block->outside.empty()) block->row_interval.reset();
}

}  // namespace

std::optional<Block> RowIntervalJoiner::Add(Block block) {
  if (!open_) return Begin(std::move(block));
  const auto& own = block.row_interval;
  const bool continues =
      own && own->first == open_->row_interval->first && block.chunk == open_->chunk && FitsBehind(block, *open_);
  if (!continues || block.sequence != open_->sequence + 1) {
    auto incomplete = TakeOpen();
    next_ = Begin(std::move(block));
    return incomplete;
  }
  const bool is_last = own->is_last || block.ending;
  Join(std::move(block), &*open_);
  if (!is_last) return std::nullopt;
  SettleRows(&*open_);
  return std::exchange(open_, std::nullopt);
}

std::optional<Block> RowIntervalJoiner::Begin(Block block) {
  if (!block.row_interval) return block;
  RowInterval& own = *block.row_interval;
  if (own.first != block.sequence) {
    own.is_last = true;
    return WithoutRows(std::move(block));
  }
  if (own.is_last || block.ending) {
    SettleRows(&block);
    return block;
  }
  open_ = std::move(block);
  return std::nullopt;
}

std::optional<Block> RowIntervalJoiner::TakeOpen() {
  if (!open_) return std::nullopt;
  return WithoutRows(*std::exchange(open_, std::nullopt));
}

}  // namespace heaprec::format
