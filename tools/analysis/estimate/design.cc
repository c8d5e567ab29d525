#include "tools/analysis/estimate/design.h"

#include <algorithm>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kDefaultIntervalNs = 1'000'000'000;  // if the header has none
// Part of the threads whose next point may still be at the previous interval's distance.
constexpr double kArmsLeft = 0.9;

uint64_t IntervalNs(const format::FileHeader& header, format::Stream stream) {
  const uint64_t interval_ns = header.CapOf(stream).interval_ns;
  return interval_ns > 0 ? interval_ns : kDefaultIntervalNs;
}

}  // namespace

Design::Design(const format::FileHeader& header, format::Stream stream)
    : stream_(stream),
      interval_ns_(IntervalNs(header, stream)),
      has_no_chances_(stream == format::Stream::kAllocations && IsBiased(header.source)) {}

std::span<const WeightedSample> Design::Add(const format::Block& block, bool by_rows) {
  Count(block);
  const bool is_calibrated = !by_rows && calibration_.Enter(block);
  if (is_calibrated && !not_counted_.empty()) {  // uses rows, as tables of rows do
    Draw(block, true, false);
    AddUncounted(&uncounted_);
  }
  if (is_calibrated) calibration_.Add(block);
  Draw(block, by_rows, is_calibrated);
  for (const WeightedSample& drawn : drawn_) AddDrawn(drawn);
  AddUncounted(is_calibrated ? &raw_uncounted_ : &uncounted_);
  return drawn_;
}

void Design::AddDrawn(const WeightedSample& drawn) {
  has_other_classes_ |= drawn.of_class == nullptr;
  if (drawn.site == kNoSite) return all_.Add(drawn);
  if (drawn.site >= of_sites_.size()) of_sites_.resize(std::max<size_t>(drawn.site + size_t{1}, of_sites_.size() * 2));
  OfSite& of = of_sites_[drawn.site];
  (drawn.row != nullptr ? of.rows : of.samples).Add(drawn);
}

Subset Design::all() const {
  Subset all = all_;
  for (RowCalibration::SiteId site = 0; site < of_sites_.size(); ++site) {
    const OfSite& of = of_sites_[site];
    if (of.samples.samples() == 0) {
      all += of.rows;
      continue;
    }
    const auto [bytes, objects] = calibration_.Of(site);
    if (bytes > 0) all += Scaled(of.samples, bytes, objects);
  }
  return all;
}

Design Design::Raw() const {
  if (of_sites_.empty()) return *this;
  Design raw = *this;
  for (const OfSite& of : of_sites_) raw.all_ += of.samples;
  raw.of_sites_.clear();
  raw.calibration_ = {};
  raw.uncounted_ = raw_uncounted_;
  return raw;
}

void Design::Draw(const format::Block& block, bool by_rows, bool is_calibrated) {
  drawn_.clear();
  if (!by_rows) DrawSamples(block);
  if (is_calibrated) {
    for (WeightedSample& one : drawn_) one.site = calibration_.SiteOf(one.class_id, one.stack);
  }
  if (by_rows || is_calibrated) DrawRows(block, is_calibrated);
  strata_.Scale(block, drawn_);
}

void Design::AddUncounted(Subset* into) const {
  if (not_counted_.empty()) return;
  for (const WeightedSample& drawn : drawn_) {
    const bool is_drawn = drawn.site == kNoSite || drawn.row == nullptr;
    if (is_drawn && not_counted_.count(drawn.interval) > 0) into->Add(drawn);
  }
}

void Design::DrawSamples(const format::Block& block) {
  uint64_t interval = 0, begin_ns = 0, end_ns = 0;  // of the last sample: most have the same
  for (uint32_t i = 0; i < block.samples.size(); ++i) {
    const format::Sample& sample = block.samples[i];
    if (sample.stream() != stream_) continue;
    if (sample.time_ns < begin_ns || sample.time_ns >= end_ns) {
      interval = sample.time_ns / interval_ns_;
      begin_ns = interval * interval_ns_;
      end_ns = begin_ns + interval_ns_;
    }
    const double size = format::CountsEvents(stream_) ? 1 : static_cast<double>(sample.size);
    drawn_.push_back({.index = i,
                      .class_id = sample.class_id,
                      .stack = sample.stack,
                      .interval = interval,
                      .size = has_no_chances_ ? 0 : std::min(size, sample.weight),
                      .weight = sample.weight,
                      .objects = sample.weight_objects()});
  }
}

// A row's interval shows whether its points were counted; a salvaged block has such an interval.
void Design::DrawRows(const format::Block& block, bool alone) {
  const auto interval = std::ranges::find_if(
      block.intervals, [this](const format::Interval& one) { return one.stream == stream_ && one.buffered > 0; });
  for (uint32_t i = 0; i < block.rows.size(); ++i) {
    const format::Row& row = block.rows[i];
    const uint32_t site = alone ? calibration_.SiteOf(row.class_id, row.stack) : kNoSite;
    if (alone && !calibration_.IsAlone(site)) continue;
    drawn_.push_back({.index = i + (alone ? static_cast<uint32_t>(block.samples.size()) : 0),
                      .row = &row,
                      .class_id = row.class_id,
                      .stack = row.stack,
                      .interval = interval != block.intervals.end() ? interval->index : 0,
                      .weight = row.bytes,
                      .objects = row.objects,
                      .site = site});
  }
}

void Design::Count(const format::Block& block) {
  not_counted_.clear();
  for (const format::Window& window : block.windows) {
    if (format::StreamOfWindow(window.id) != stream_ || !(window.lambda > 0)) continue;
    latest_spacing_ = 1 / window.lambda;
    widest_spacing_ = std::max(widest_spacing_, latest_spacing_);
    recent_spacing_ = std::max(recent_spacing_, latest_spacing_);
  }
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream == stream_) Count(interval);
  }
}

// If points were buffered, bytes or events were counted, unless they were salvaged.
void Design::Count(const format::Interval& interval) {
  const uint64_t counted = format::CountsEvents(stream_) ? interval.candidates : interval.bytes;
  counted_ += counted;
  candidates_ += interval.candidates;
  variance_of_counted_ += static_cast<double>(counted) * recent_spacing_;
  recent_spacing_ = std::max(latest_spacing_, recent_spacing_ * kArmsLeft);
  not_kept_ += interval.buffered - std::min(interval.buffered, interval.kept);
  if (counted == 0 && interval.buffered > 0) not_counted_.insert(interval.index);
}

// If the rows of all intervals are present, the counters only add what was counted of the next interval.
void Design::CountUnwritten(const format::StreamCounters& counters) {
  const uint64_t lost = counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  if (lost == 0 || format::CountsEvents(stream_) || counters.second_stage + lost <= not_kept_) return;
  if (counters.candidate_bytes > counted_) SetCounted(counters.candidate_bytes);
}

}  // namespace heaprec::tools
