#include "tools/analysis/live/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {
namespace {

constexpr double kTail = 0.05;  // both tails of a 95 % interval
constexpr double kRounding = 1e-12;
// Each except the first gives an instant, and so does the end. A line through fewer than three instants has no
// residuals.
constexpr size_t kMinOldCollections = 3;

// The Welch-Satterthwaite approximation for the sum of two estimated variances.
double EffectiveDegreesOfFreedom(const GrowthSum& of, double samples) {
  double inverse = 0;
  const double variance = of.variance + of.residual_variance;
  if (of.variance > 0) inverse += of.variance * of.variance / (samples - 1);
  if (of.residual_variance > 0 && of.degrees_of_freedom > 0)
    inverse += of.residual_variance * of.residual_variance / of.degrees_of_freedom;
  return inverse > 0 ? std::min(variance * variance / inverse, kManyCounts) : kManyCounts;
}

// Returns the instants just before each of these collections, and the end. Omits instants before which the recording
// has too few collections for anything to have survived `survived` of them.
std::vector<uint64_t> BeforeEach(const std::vector<std::pair<uint64_t, uint64_t>>& counts, uint64_t from_ns,
                                 uint64_t to_ns, uint64_t survived) {
  std::vector<uint64_t> all;
  const uint64_t before = counts.empty() ? 0 : counts.front().second;
  for (const auto& [time_ns, counted] : counts) {
    if (counted <= before + survived || time_ns <= from_ns || time_ns > to_ns || time_ns == 0) continue;
    all.push_back(time_ns - 1);
  }
  if (!all.empty() && all.back() < to_ns) all.push_back(to_ns);
  return all;
}

// Picks at most `most` of the instants, evenly over the time, and always the last one.
std::vector<uint64_t> AtMost(std::vector<uint64_t> all, size_t most) {
  if (all.size() <= most || most < 2) return all;
  std::vector<uint64_t> matched;
  const double step = static_cast<double>(all.back() - all.front()) / static_cast<double>(most - 1);
  double next = static_cast<double>(all.front());
  for (const uint64_t instant : all) {
    const bool is_last = instant == all.back();
    if (static_cast<double>(instant) < next && !is_last) continue;
    matched.push_back(instant);
    next += step * (1 + std::floor((static_cast<double>(instant) - next) / step));
  }
  return matched;
}

// The youngest objects are omitted, because many of them are short-lived.
constexpr double kYoungest = 0.1;
constexpr size_t kMinSamples = 5;
constexpr double kMinSince = 3;  // samples since a change
// By Ville's inequality, the log likelihood exceeds that of the true change by ln 40 in 5 % of cases, for known rates.
// The limit is a little higher, because the rates are estimated.
constexpr double kMaxBelow = 4.5;

struct Birth {
  double time_s, weight;
};

// A possible change just before a birth.
struct Candidate {
  double from_s, time_s;  // time of the previous birth, or the start; its own time
  double since;           // number of samples since then
  double likelihood;      // its logarithm
};

double Likelihood(double samples, double seconds) { return samples > 0 ? samples * std::log(samples / seconds) : 0; }

}  // namespace

std::vector<uint64_t> CollectionInstants(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, uint64_t survived,
                                         size_t most) {
  to_ns = std::min(to_ns, lives.checked_ns());
  const auto& counts = lives.clock().counts();
  if (!lives.is_range()) return AtMost(BeforeEach(counts, from_ns, to_ns, survived), most);
  // Each collection is counted when it ends, so the deaths that it found are known.
  std::vector<uint64_t> all;
  for (const auto& [time_ns, counted] : counts) {
    if (counted >= survived && time_ns > from_ns && time_ns <= to_ns) all.push_back(time_ns);
  }
  return AtMost(std::move(all), most);
}

std::vector<uint64_t> OldCollectionInstants(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, size_t most) {
  to_ns = std::min(to_ns, lives.checked_ns());
  std::vector<uint64_t> all;
  const auto& counts = lives.clock().old_counts();
  for (const auto& [time_ns, counted] : counts) {
    if (counted > counts.front().second && time_ns > from_ns && time_ns <= to_ns) all.push_back(time_ns - 1);
  }
  if (all.size() < kMinOldCollections || all.back() - all.front() < (to_ns - from_ns) / 2) return {};
  all.erase(all.begin());
  all.push_back(to_ns);
  return AtMost(std::move(all), most);
}

std::vector<uint64_t> EvenlySpacedInstants(uint64_t from_ns, uint64_t to_ns, size_t count) {
  std::vector<uint64_t> instants;
  for (size_t i = 1; from_ns < to_ns && i <= count; ++i) instants.push_back(from_ns + (to_ns - from_ns) / count * i);
  return instants;
}

void GrowthSum::Add(const GrowthContribution& part) {
  if (part.bytes.empty()) return;
  if (bytes.size() < part.first + part.bytes.size()) bytes.resize(part.first + part.bytes.size(), 0);
  for (size_t i = 0; i < part.bytes.size(); ++i) bytes[part.first + i] += part.bytes[i];
  slope += part.slope;
  variance += part.variance;
  abs_slope_sum += std::abs(part.slope);
  slope_square_sum += part.slope * part.slope;
}

GrowthSum& GrowthSum::operator+=(const GrowthSum& other) {
  bytes.clear();
  slope += other.slope, variance += other.variance;
  abs_slope_sum += other.abs_slope_sum, slope_square_sum += other.slope_square_sum;
  const auto inverse_of = [](const GrowthSum& of) {
    return of.degrees_of_freedom > 0 ? of.residual_variance * of.residual_variance / of.degrees_of_freedom : 0;
  };
  const double inverse = inverse_of(*this) + inverse_of(other);
  residual_variance += other.residual_variance;
  degrees_of_freedom = inverse > 0 ? residual_variance * residual_variance / inverse
                                   : std::max(degrees_of_freedom, other.degrees_of_freedom);
  return *this;
}

Growth::Growth(std::vector<uint64_t> instants, uint64_t survived, Collections which)
    : instants_(std::move(instants)), survived_(survived), which_(which) {
  if (instants_.empty()) return;
  double mean = 0;
  for (const uint64_t instant : instants_) mean += static_cast<double>(instant - instants_[0]) * 1e-9;
  mean /= static_cast<double>(instants_.size());
  for (const uint64_t instant : instants_) {
    slope_weights_.push_back(static_cast<double>(instant - instants_[0]) * 1e-9 - mean);
    time_square_sum_ += slope_weights_.back() * slope_weights_.back();
  }
  for (double& weight : slope_weights_) weight = time_square_sum_ > 0 ? weight / time_square_sum_ : 0;
}

// A sample that is live at two instants has the inclusion probability size / weight at each, and the later one is
// smaller. The covariance of its two weights is (later weight) (earlier weight - size).
GrowthContribution Growth::Contribution(const Lifetime& life, const Lifetimes& lives) const {
  GrowthContribution part;
  double earlier = 0, abs_sum = 0;
  const bool is_old = which_ == Collections::kOld;
  for (auto at = std::lower_bound(instants_.begin(), instants_.end(), life.from_ns); at != instants_.end(); ++at) {
    if (!life.IsTrackedAt(*at)) break;
    if ((is_old ? lives.SurvivedOldBy(life, *at) : lives.SurvivedBy(life, *at)) < survived_) continue;
    const auto i = static_cast<size_t>(at - instants_.begin());
    if (part.bytes.empty()) part.first = i;
    const double weight = lives.WeightAt(life, *at), free = weight - static_cast<double>(life.size);
    part.bytes.push_back(weight);
    part.slope += slope_weights_[i] * weight;
    abs_sum += std::abs(slope_weights_[i] * weight);
    part.variance += slope_weights_[i] * weight * (slope_weights_[i] * free + 2 * earlier);
    earlier += slope_weights_[i] * free;
  }
  part.variance = std::max(part.variance, 0.0);
  // An object that is live throughout does not grow. With a deviation of 0, any rounding error would be significant.
  if (std::abs(part.slope) <= kRounding * abs_sum) part.slope = 0;
  return part;
}

void Growth::Close(GrowthSum* of) const {
  const auto count = static_cast<double>(instants_.size());
  if (of->bytes.empty()) return;
  of->bytes.resize(instants_.size(), 0);
  if (instants_.size() < 3 || !(time_square_sum_ > 0)) return;
  double mean = 0, squares = 0;
  for (const double bytes : of->bytes) mean += bytes / count;
  for (size_t i = 0; i < instants_.size(); ++i) {
    const double residual = of->bytes[i] - mean - of->slope * slope_weights_[i] * time_square_sum_;
    squares += residual * residual;
  }
  of->degrees_of_freedom = count - 2;
  of->residual_variance = squares / of->degrees_of_freedom / time_square_sum_;
}

Slope Growth::Of(const GrowthSum& closed) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Slope slope{{closed.slope, -kInfinite, kInfinite}};
  const double samples =
      closed.slope_square_sum > 0 ? closed.abs_slope_sum * closed.abs_slope_sum / closed.slope_square_sum : 0;
  const double deviation = std::sqrt(closed.variance + closed.residual_variance);
  if (samples < 2) return slope;
  if (!(deviation > 0)) {  // the slope is known exactly
    const double p = closed.slope > 0 ? 0 : 1;
    return {{closed.slope, closed.slope, closed.slope}, p, p};
  }
  const double freedom = EffectiveDegreesOfFreedom(closed, samples);
  const double half = StudentTwoSided(kTail, freedom) * deviation;
  slope.per_second = {closed.slope, closed.slope - half, closed.slope + half};
  slope.p = StudentAbove(closed.slope / deviation, freedom);
  slope.least_p = std::min(slope.p, StudentAbove(std::sqrt(samples), samples - 1));
  return slope;
}

std::optional<Estimate> OnsetOf(const std::vector<LiveSample>& alive, double from_s, double at_s) {
  const double to_s = std::lerp(at_s, from_s, kYoungest);
  std::vector<Birth> births;
  double sum = 0, squares = 0;
  for (const LiveSample& one : alive) {
    const double time_s = at_s - one.age_s;
    if (time_s <= from_s || time_s >= to_s) continue;
    births.push_back({time_s, one.weight});
    sum += one.weight, squares += one.weight * one.weight;
  }
  if (births.size() < kMinSamples || !(squares > 0)) return std::nullopt;
  std::ranges::sort(births, {}, &Birth::time_s);
  const double all = sum * sum / squares;  // number of samples of equal weight with the same precision
  std::vector<Candidate> candidates;
  double before = 0, previous_s = from_s;
  for (const Birth& birth : births) {
    const double since = all - before, elapsed = birth.time_s - from_s, left = to_s - birth.time_s;
    if (since >= kMinSince && since / left > before / elapsed)
      candidates.push_back({previous_s, birth.time_s, since, Likelihood(before, elapsed) + Likelihood(since, left)});
    before += birth.weight * sum / squares;
    previous_s = birth.time_s;
  }
  if (candidates.empty()) return std::nullopt;
  const Candidate& best = *std::ranges::max_element(candidates, {}, &Candidate::likelihood);
  const double least = best.likelihood - kMaxBelow;
  if (Likelihood(all, to_s - from_s) >= least) return Estimate{from_s, from_s, best.time_s};
  const auto is_likely = [least](const Candidate& one) { return one.likelihood >= least; };
  const Candidate& first = *std::ranges::find_if(candidates, is_likely);
  double low = first.from_s;
  // Without earlier births, the likelihood before the first one decreases as a power of the remaining time.
  if (&first == &candidates.front() && first.from_s == from_s)
    low = std::max(low, to_s - (to_s - first.time_s) * std::exp((first.likelihood - least) / first.since));
  const Candidate& last = *std::find_if(candidates.rbegin(), candidates.rend(), is_likely);
  return Estimate{best.time_s, low, last.time_s};
}

}  // namespace heaprec::tools
