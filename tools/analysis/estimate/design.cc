#include "tools/analysis/estimate/design.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {
namespace {

// Of the threads whose next point is as far away as points were an interval before.
constexpr double kArmsLeft = 0.9;

}  // namespace

Design::Design(const format::FileHeader& header, format::Stream stream, OrderLevel finest)
    : preparer_(header, stream, finest) {}

std::span<const WeightedSample> Design::Add(const format::Block& block, bool by_rows) {
  preparer_.Make(block, &draft_, by_rows);
  return Take(block);
}

std::span<const WeightedSample> Design::Add(const format::Block& block, PreparedSamples draft) {
  draft_ = std::move(draft);
  return Take(block);
}

std::span<const WeightedSample> Design::Take(const format::Block& block) {
  Count(block);
  line_.Assign(&draft_);
  for (WeightedSample& drawn : draft_.drawn) {
    if (draft_.by_rows) drawn.row = &block.rows[drawn.index];
  }
  strata_.Scale(block, draft_.drawn);
  for (const WeightedSample& drawn : draft_.drawn) {
    all_.Add(drawn);
    if (!not_counted_.empty() && not_counted_.count(drawn.interval) > 0) uncounted_.Add(drawn);
  }
  return draft_.drawn;
}

void Design::Count(const format::Block& block) {
  not_counted_.clear();
  for (const format::Window& window : block.windows) {
    if (format::StreamOfWindow(window.id) != preparer_.stream() || !(window.lambda > 0)) continue;
    latest_spacing_ = 1 / window.lambda;
    widest_spacing_ = std::max(widest_spacing_, latest_spacing_);
    recent_spacing_ = std::max(recent_spacing_, latest_spacing_);
  }
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream == preparer_.stream()) Count(interval);
  }
}

// Where points were held, bytes or events were counted, if there was anybody to count them.
void Design::Count(const format::Interval& interval) {
  const uint64_t counted = format::CountsEvents(preparer_.stream()) ? interval.candidates : interval.bytes;
  counted_ += counted;
  candidates_ += interval.candidates;
  variance_of_counted_ += static_cast<double>(counted) * recent_spacing_;
  recent_spacing_ = std::max(latest_spacing_, recent_spacing_ * kArmsLeft);
  not_kept_ += interval.buffered - std::min(interval.buffered, interval.kept);
  if (counted == 0 && interval.buffered > 0) not_counted_.insert(interval.index);
  if (preparer_.has_quotas() && HasQuota(interval) && !draft_.by_rows) NoteQuota(interval);
}

// If the rows of all intervals are present, the counters add nothing but what they counted of the next interval.
void Design::CountUnwritten(const format::StreamCounters& counters) {
  const uint64_t lost = counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  if (lost == 0 || format::CountsEvents(preparer_.stream()) || counters.second_stage + lost <= not_kept_) return;
  if (counters.candidate_bytes > counted_) SetCounted(counters.candidate_bytes);
}

// What was kept is the quota, rounded down or up at random.
void Design::NoteQuota(const format::Interval& interval) {
  const double quota = static_cast<double>(interval.bytes) / interval.tau;
  variance_of_quotas_ += interval.tau * interval.tau * (quota < 0.5 ? quota * (1 - quota) : 0.25);
}

// Where quotas are small both are estimates of the same; where they are large, their part is small.
double Design::VarianceOfBytes() const { return std::max({all_.bytes_with_all(), variance_of_quotas_, 0.0}); }

}  // namespace heaprec::tools
