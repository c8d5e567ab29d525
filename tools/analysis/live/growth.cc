#include "tools/analysis/live/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tools/analysis/estimate/distributions.h"

namespace heaprec::tools {
namespace {

constexpr double kTail = 0.05;  // both tails of a 95 % interval
constexpr double kRounding = 1e-12;
// Each except the first gives an instant, and so does the end. A line through fewer than three has no residuals.
constexpr size_t kMinOldCollections = 3;

// P(|T| > t) of Student's distribution, and the t of a probability.
double BothTails(double t, double freedom) { return BetaBelow(freedom / (freedom + t * t), freedom / 2, 0.5); }
double QuantileOf(double both_tails, double freedom) {
  const double x = BetaQuantile(both_tails, freedom / 2, 0.5);
  return std::sqrt(freedom * (1 - x) / x);
}

double OneTail(double t, double freedom) {
  const double both = BothTails(t, freedom);
  return t > 0 ? both / 2 : 1 - both / 2;
}

// Satterthwaite's, of a sum of two variances that are estimates themselves.
double FreedomOf(const GrowthSum& of, double samples) {
  double inverse = 0;
  const double variance = of.variance + of.off;
  if (of.variance > 0) inverse += of.variance * of.variance / (samples - 1);
  if (of.off > 0 && of.freedom > 0) inverse += of.off * of.off / of.freedom;
  return inverse > 0 ? std::min(variance * variance / inverse, kManyCounts) : kManyCounts;
}

// Returns the instants just before each of these collections, and the end. Leaves out instants before which the
// recording has too few collections for anything to have survived `survived` of them.
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

}  // namespace

std::vector<uint64_t> InstantsOf(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, uint64_t survived,
                                 size_t most) {
  to_ns = std::min(to_ns, lives.checked_ns());
  const auto& counts = lives.clock().counts();
  if (!lives.is_range()) return AtMost(BeforeEach(counts, from_ns, to_ns, survived), most);
  // Each is counted when it ends, so the deaths that it found are known.
  std::vector<uint64_t> all;
  for (const auto& [time_ns, counted] : counts) {
    if (counted >= survived && time_ns > from_ns && time_ns <= to_ns) all.push_back(time_ns);
  }
  return AtMost(std::move(all), most);
}

std::vector<uint64_t> OldInstantsOf(const Lifetimes& lives, uint64_t from_ns, uint64_t to_ns, size_t most) {
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

std::vector<uint64_t> EvenInstants(uint64_t from_ns, uint64_t to_ns, size_t count) {
  std::vector<uint64_t> instants;
  for (size_t i = 1; from_ns < to_ns && i <= count; ++i) instants.push_back(from_ns + (to_ns - from_ns) / count * i);
  return instants;
}

void GrowthSum::Add(const GrowthPart& part) {
  if (part.bytes.empty()) return;
  if (bytes.size() < part.first + part.bytes.size()) bytes.resize(part.first + part.bytes.size(), 0);
  for (size_t i = 0; i < part.bytes.size(); ++i) bytes[part.first + i] += part.bytes[i];
  slope += part.slope;
  variance += part.variance;
  reach += std::abs(part.slope);
  squares += part.slope * part.slope;
}

GrowthSum& GrowthSum::operator+=(const GrowthSum& other) {
  bytes.clear();
  slope += other.slope, variance += other.variance;
  reach += other.reach, squares += other.squares;
  const auto inverse_of = [](const GrowthSum& of) { return of.freedom > 0 ? of.off * of.off / of.freedom : 0; };
  const double inverse = inverse_of(*this) + inverse_of(other);
  off += other.off;
  freedom = inverse > 0 ? off * off / inverse : std::max(freedom, other.freedom);
  return *this;
}

Growth::Growth(std::vector<uint64_t> instants, uint64_t survived, Collections which)
    : instants_(std::move(instants)), survived_(survived), which_(which) {
  if (instants_.empty()) return;
  double mean = 0;
  for (const uint64_t instant : instants_) mean += static_cast<double>(instant - instants_[0]) * 1e-9;
  mean /= static_cast<double>(instants_.size());
  for (const uint64_t instant : instants_) {
    share_.push_back(static_cast<double>(instant - instants_[0]) * 1e-9 - mean);
    spread_ += share_.back() * share_.back();
  }
  for (double& share : share_) share = spread_ > 0 ? share / spread_ : 0;
}

// A sample that is alive at two instants was drawn for the first with a chance of size / weight there, and again for
// the second, which is later, with the smaller chance there: their covariance is (later weight) (earlier weight -
// size).
GrowthPart Growth::PartOf(const Lifetime& life, const Lifetimes& lives) const {
  GrowthPart part;
  double earlier = 0, reach = 0;
  const bool is_old = which_ == Collections::kOld;
  for (auto at = std::lower_bound(instants_.begin(), instants_.end(), life.from_ns); at != instants_.end(); ++at) {
    if (!life.IsTrackedAt(*at)) break;
    if ((is_old ? lives.SurvivedOldBy(life, *at) : lives.SurvivedBy(life, *at)) < survived_) continue;
    const auto i = static_cast<size_t>(at - instants_.begin());
    if (part.bytes.empty()) part.first = i;
    const double weight = lives.WeightAt(life, *at), free = weight - static_cast<double>(life.size);
    part.bytes.push_back(weight);
    part.slope += share_[i] * weight;
    reach += std::abs(share_[i] * weight);
    part.variance += share_[i] * weight * (share_[i] * free + 2 * earlier);
    earlier += share_[i] * free;
  }
  part.variance = std::max(part.variance, 0.0);
  // What is alive throughout does not grow. Without a deviation any remainder would be significant.
  if (std::abs(part.slope) <= kRounding * reach) part.slope = 0;
  return part;
}

void Growth::Close(GrowthSum* of) const {
  const auto count = static_cast<double>(instants_.size());
  if (of->bytes.empty()) return;
  of->bytes.resize(instants_.size(), 0);
  if (instants_.size() < 3 || !(spread_ > 0)) return;
  double mean = 0, squares = 0;
  for (const double bytes : of->bytes) mean += bytes / count;
  for (size_t i = 0; i < instants_.size(); ++i) {
    const double off = of->bytes[i] - mean - of->slope * share_[i] * spread_;
    squares += off * off;
  }
  of->freedom = count - 2;
  of->off = squares / of->freedom / spread_;
}

Slope Growth::Of(const GrowthSum& closed) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Slope slope{{closed.slope, -kInfinite, kInfinite}};
  const double samples = closed.squares > 0 ? closed.reach * closed.reach / closed.squares : 0;
  const double deviation = std::sqrt(closed.variance + closed.off);
  if (samples < 2) return slope;
  if (!(deviation > 0)) {  // all of it is known
    const double p = closed.slope > 0 ? 0 : 1;
    return {{closed.slope, closed.slope, closed.slope}, p, p};
  }
  const double freedom = FreedomOf(closed, samples);
  const double half = QuantileOf(kTail, freedom) * deviation;
  slope.per_second = {closed.slope, closed.slope - half, closed.slope + half};
  slope.p = OneTail(closed.slope / deviation, freedom);
  slope.least_p = std::min(slope.p, OneTail(std::sqrt(samples), samples - 1));
  return slope;
}

}  // namespace heaprec::tools
