#include "tools/analysis/totals/stream_totals.h"

#include <algorithm>

namespace heaprec::tools {

format::PerStream<StreamTotals> TotalsOfStreams(const format::FileHeader& header) {
  const auto of = [&header](format::Stream stream) { return StreamTotals(header.CapOf(stream).interval_ns, stream); };
  return {{of(format::Stream::kAllocations), of(format::Stream::kExceptions), of(format::Stream::kNative),
           of(format::Stream::kMapping)}};
}

void StreamTotals::Add(const format::Block& block, bool by_rows) {
  if (by_rows) CountRows(block);
  for (const format::Sample& sample : block.samples) {
    if (!by_rows && sample.stream() == stream_) Count(sample);
  }
  CountWindows(block);
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream_) continue;
    ++intervals;
    if (interval.tau > 0) ++intervals_thinned;
  }
  last_ns = std::max(last_ns, block.end_ns);
}

void StreamTotals::CountWindows(const format::Block& block) {
  if (block.chunk != chunk_) last_of_earlier_chunks_ = last_window_;
  chunk_ = block.chunk;
  for (const format::Window& window : block.windows) {
    if (format::StreamOfWindow(window.id) != stream_) continue;
    if (window.id > last_of_earlier_chunks_) ++windows;
    last_window_ = std::max(last_window_, window.id);
  }
}

// Blocks have complete intervals in order, so one counter is sufficient.
void StreamTotals::Count(const format::Sample& sample) {
  KindTotals& kind = kinds[static_cast<size_t>(sample.kind)];
  ++kind.events;
  kind.bytes += sample.weight_bytes();
  kind.objects += sample.weight_objects();
  const uint64_t interval = sample.time_ns / interval_ns_;
  if (interval != interval_) in_interval_ = 0;
  interval_ = interval;
  most_in_interval = std::max(most_in_interval, ++in_interval_);
  last_ns = std::max(last_ns, sample.time_ns);
}

void StreamTotals::CountRows(const format::Block& block) {
  KindTotals& all = kinds.front();
  for (const format::Row& row : block.rows) {
    all.bytes += row.bytes;
    all.objects += row.objects;
  }
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream_) continue;
    all.events += interval.kept;
    most_in_interval = std::max(most_in_interval, interval.kept);
  }
}

uint64_t StreamTotals::events() const {
  uint64_t sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.events;
  return sum;
}

double StreamTotals::bytes() const {
  double sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.bytes;
  return sum;
}

double StreamTotals::objects() const {
  double sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.objects;
  return sum;
}

}  // namespace heaprec::tools
