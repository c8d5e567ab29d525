#include "tools/analysis/live/live_sum.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

Estimate ShareOf(const LiveTotal& group, const LiveTotal& whole, double unit) {
  if (!(whole.bytes > 0)) return {0, 0, 1};
  const double share = group.bytes / whole.bytes;
  const double variance = group.variance * (1 - 2 * share) + share * share * whole.variance;
  // Near 0 one more sample in the group determines the end, near 1 one more outside it.
  const double others = std::max(whole.variance - group.variance, 0.0);
  const double one = (1 - share) * MeanUnit(group.bytes, group.variance, unit) +
                     share * MeanUnit(whole.bytes - group.bytes, others, unit);
  return ShareInterval(share, variance / (whole.bytes * whole.bytes), one / whole.bytes);
}

using Age = double LiveSample::*;

Estimate MeanOf(const std::vector<LiveSample>& group, const LiveTotal& total, Age age) {
  if (!(total.bytes > 0)) return RatioInterval(0, 0, 0);
  double sum = 0;
  for (const LiveSample& one : group) sum += one.weight * one.*age;
  const double mean = sum / total.bytes;
  double variance = 0;
  for (const LiveSample& one : group) {
    variance += one.weight * (one.weight - one.size) * (one.*age - mean) * (one.*age - mean);
  }
  return RatioInterval(mean, variance / (total.bytes * total.bytes), total.bytes * total.bytes / total.squares);
}

double MedianOf(const std::vector<LiveSample>& group, double bytes, Age age) {
  std::vector<const LiveSample*> by_age;
  by_age.reserve(group.size());
  for (const LiveSample& one : group) by_age.push_back(&one);
  std::sort(by_age.begin(), by_age.end(),
            [age](const LiveSample* a, const LiveSample* b) { return a->*age < b->*age; });
  double below = 0;
  for (const LiveSample* one : by_age) {
    below += one->weight;
    if (below >= bytes / 2) return one->*age;
  }
  return 0;
}

}  // namespace

void LiveTotal::Add(const LiveSample& one) {
  ++samples;
  bytes += one.weight;
  seen += one.size;
  variance += one.weight * (one.weight - one.size);
  squares += one.weight * one.weight;
  if (one.survived >= 1) old_bytes += one.weight;
  if (!(one.weight > 0)) ++weightless;
  if (!(one.size > 0)) ++unsized;
  if (!(one.size > 0)) return;
  const double stands_for = one.weight / one.size;
  objects += stands_for;
  variance_of_objects += stands_for * (stands_for - 1);
}

LiveTotal& LiveTotal::operator+=(const LiveTotal& other) {
  samples += other.samples, weightless += other.weightless, unsized += other.unsized;
  bytes += other.bytes, objects += other.objects, seen += other.seen;
  variance += other.variance, variance_of_objects += other.variance_of_objects;
  squares += other.squares;
  old_bytes += other.old_bytes;
  return *this;
}

LiveEstimates EstimateTotal(const LiveTotal& group, const LiveTotal& whole, double unit) {
  LiveEstimates estimates;
  estimates.samples = group.samples;
  estimates.bytes = TotalInterval(group.bytes, group.variance, MeanUnit(group.bytes, group.variance, unit));
  estimates.bytes.low = std::max(estimates.bytes.low, std::min(group.seen, group.bytes));
  const double typical = group.bytes > 0 ? unit * group.objects / group.bytes : unit / kMinObject;
  estimates.objects = TotalInterval(group.objects, group.variance_of_objects,
                                    MeanUnit(group.objects, group.variance_of_objects, typical));
  estimates.objects.low = std::max(estimates.objects.low, std::min<double>(group.samples, group.objects));
  estimates.share = ShareOf(group, whole, unit);
  if (group.unsized > 0) estimates.objects = kUnknownEstimate;
  if (group.weightless > 0) estimates.bytes = estimates.objects = estimates.share = kUnknownEstimate;
  return estimates;
}

LiveEstimates EstimateGroup(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit) {
  LiveTotal total;
  for (const LiveSample& one : group) total.Add(one);
  LiveEstimates estimates = EstimateTotal(total, whole, unit);
  estimates.mean_age_s = MeanOf(group, total, &LiveSample::age_s);
  estimates.mean_survived = MeanOf(group, total, &LiveSample::survived);
  estimates.median_age_s = MedianOf(group, total.bytes, &LiveSample::age_s);
  estimates.median_survived = MedianOf(group, total.bytes, &LiveSample::survived);
  if (total.weightless > 0) {
    // Ages are means over bytes.
    estimates.mean_age_s = estimates.mean_survived = kUnknownEstimate;
    estimates.median_age_s = estimates.median_survived = kUnknownEstimate.value;
  }
  return estimates;
}

LiveRange RangeOf(const std::vector<LiveSample>& group, const LiveTotal& whole, double unit) {
  std::vector<LiveSample> old;
  std::copy_if(group.begin(), group.end(), std::back_inserter(old),
               [](const LiveSample& one) { return one.survived >= 1; });
  LiveEstimates least = EstimateGroup(old, whole, unit);
  if (old.empty()) {
    // Without objects that are certainly live there is no age.
    least.mean_age_s = least.mean_survived = kUnknownEstimate;
    least.median_age_s = least.median_survived = kUnknownEstimate.value;
  }
  return RangeBetween(least, EstimateGroup(group, whole, unit), whole);
}

LiveRange RangeBetween(const LiveEstimates& least, const LiveEstimates& most, const LiveTotal& whole) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  // The smallest share assumes that nothing else is garbage, the largest that everything else that may be garbage is.
  const double others = std::max(whole.bytes - most.bytes.value, 0.0);
  const double old_others = std::max(whole.old_bytes - least.bytes.value, 0.0);
  const auto share = [](double bytes, double rest) { return bytes > 0 ? bytes / (bytes + rest) : 0; };
  LiveRange range{least, least.bytes, least.objects};
  range.estimates.samples = most.samples;
  range.estimates.bytes = {kNone, least.bytes.low, most.bytes.high};
  range.estimates.objects = {kNone, least.objects.low, most.objects.high};
  range.estimates.share = {kNone, share(least.bytes.low, others), share(most.bytes.high, old_others)};
  return range;
}

LiveAtEnd::LiveAtEnd(const format::FileHeader& header) : is_imported_(IsImported(header.source)) {
  if (header.max_tracked_objects > 0) lives_.emplace(header);
}

void LiveAtEnd::Add(const format::Block& block) {
  if (!lives_) return;
  samples_.assign(block.samples.size(), 0);
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (block.samples[i].stream() != format::Stream::kAllocations) samples_[i] = Lifetimes::kLeftOut;
  }
  live_checkpoint_.assign(block.live_checkpoint.size(), 0);
  lives_->Add(block, samples_, live_checkpoint_);
}

std::optional<LiveAtEndTotals> LiveAtEnd::Close(uint64_t end_ns) {
  if (!lives_) return std::nullopt;
  lives_->Close(end_ns);
  std::vector<LiveSample> alive;
  LiveTotal total;
  double heaviest = 0;
  for (const Lifetime& life : lives_->all()) {
    heaviest = std::max(heaviest, life.weight);
    if (!life.IsTrackedAt(lives_->end_ns())) continue;
    alive.push_back({lives_->WeightAt(life, lives_->end_ns()), static_cast<double>(life.size), 0,
                     static_cast<double>(life.Survived())});
    total.Add(alive.back());
  }
  const double unit = total.bytes > 0 ? total.Unit() : heaviest;
  const LiveEstimates estimates =
      lives_->is_range() ? RangeOf(alive, total, unit).estimates : EstimateGroup(alive, total, unit);
  return LiveAtEndTotals{estimates.samples, is_imported_ ? 0 : lives_->untracked(), estimates.bytes, estimates.objects};
}

}  // namespace heaprec::tools
