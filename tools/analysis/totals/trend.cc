#include "tools/analysis/totals/trend.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heaprec::tools {
namespace {

using format::AccountItem;

constexpr double kCertainZ = 2.576;  // 99 %: several amounts are tested, and the points of one are not independent

// Points of an age a are joined within a / kResolution.
constexpr double kResolution = 64;
constexpr size_t kThinEvery = 64;  // points

// Growth counts if it has lasted this long: what begins, or fills a cache at once, has ended by then.
constexpr double kLeastTime_s = 600;
// What grew has taken this part of the limit.
constexpr double kLeastRise = 0.05;
constexpr size_t kPieces = 16, kLeastPieces = 8;
// The rates of both halves, relative to that of the whole time: growth has not slowed down, and has not just begun.
constexpr double kLeastRate = 0.6, kMostRate = 1.67;
// Each shorter time in which growth is looked for.
constexpr double kShorter = 0.7;
// The interval is not narrower on either side: a full heap is collected otherwise than one with room.
constexpr double kNoLine = 0.15;
// Of a normal distribution.
constexpr double kMadToSigma = 1.4826, kMedianError = 1.2533;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<TrendPoint> LowsOf(std::span<const TrendPoint> points, size_t pieces) {
  std::vector<TrendPoint> lows;
  if (points.empty()) return lows;
  const double from = points.front().time_s, width = (points.back().time_s - from) / static_cast<double>(pieces);
  size_t piece = pieces;
  for (const TrendPoint& point : points) {
    const size_t of = std::min(pieces - 1, static_cast<size_t>((point.time_s - from) / std::max(width, 1e-9)));
    if (of != piece)
      lows.push_back(point);
    else if (point.value < lows.back().value)
      lows.back() = point;
    piece = of;
  }
  return lows;
}

Estimate SlopeOf(std::span<const TrendPoint> lows) {
  std::vector<double> slopes;
  slopes.reserve(lows.size() * (lows.size() - 1) / 2);
  for (size_t i = 0; i < lows.size(); ++i) {
    for (size_t j = i + 1; j < lows.size(); ++j)
      slopes.push_back((lows[j].value - lows[i].value) / (lows[j].time_s - lows[i].time_s));
  }
  std::ranges::sort(slopes);
  const auto n = static_cast<double>(lows.size()), m = static_cast<double>(slopes.size());
  const double spread = kCertainZ * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const auto at = [&](double rank) { return slopes[static_cast<size_t>(std::clamp(rank, 0.0, m - 1))]; };
  const double middle = (at(std::floor((m - 1) / 2)) + at(std::ceil((m - 1) / 2))) / 2;
  return {middle, at(std::floor((m - spread) / 2)), at(std::ceil((m + spread) / 2))};
}

Onset OnsetOf(std::span<const TrendPoint> lows, size_t least) {
  const auto error = [&](size_t from) {
    double flat = 0;
    for (size_t i = 0; i <= from; ++i) flat += lows[i].value / static_cast<double>(from + 1);
    double xy = 0, xx = 0;
    for (size_t i = from; i < lows.size(); ++i) {
      const double x = lows[i].time_s - lows[from].time_s;
      xy += x * (lows[i].value - flat), xx += x * x;
    }
    const double slope = xx > 0 ? xy / xx : 0;
    double sum = 0;
    for (size_t i = 0; i < lows.size(); ++i) {
      const double off = lows[i].value - flat - (i > from ? slope * (lows[i].time_s - lows[from].time_s) : 0);
      sum += off * off;
    }
    return sum;
  };
  std::vector<double> errors;
  for (size_t from = 0; from + least <= lows.size(); ++from) errors.push_back(error(from));
  const auto best = std::ranges::min_element(errors);
  // The likelihood ratio of normal errors.
  const double most = *best * std::exp(kZ * kZ / static_cast<double>(lows.size()));
  const auto is_likely = [most](double of) { return of <= most; };
  const auto first = std::ranges::find_if(errors, is_likely);
  const auto last = std::find_if(errors.rbegin(), errors.rend(), is_likely);
  return {static_cast<size_t>(best - errors.begin()), static_cast<size_t>(first - errors.begin()),
          static_cast<size_t>(errors.rend() - last) - 1};
}

void AmountSeries::Add(double time_s, double value) {
  const TrendPoint point{time_s, value};
  parts_.push_back({time_s, time_s, point, point});
  if (++unthinned_ >= kThinEvery) Thin();
}

void AmountSeries::Thin() {
  unthinned_ = 0;
  const double now_s = parts_.back().to_s;
  size_t kept = 0;
  for (size_t i = 1; i < parts_.size(); ++i) {
    Part& last = parts_[kept];
    const Part& next = parts_[i];
    if (next.to_s - last.from_s > (now_s - next.to_s) / kResolution) {
      parts_[++kept] = next;
      continue;
    }
    last.to_s = next.to_s;
    if (next.low.value < last.low.value) last.low = next.low;
    if (next.high.value > last.high.value) last.high = next.high;
  }
  parts_.resize(kept + 1);
}

// The longest time first, because its rate is the most certain one.
std::optional<Estimate> AmountSeries::SecondsTo(double limit, double now_s) const {
  if (parts_.empty() || !(limit > 0)) return std::nullopt;
  const double end_s = parts_.back().to_s;
  size_t first = 0;
  for (double time_s = end_s - parts_.front().from_s; time_s >= kLeastTime_s; time_s *= kShorter) {
    while (parts_[first].from_s < end_s - time_s) ++first;
    if (auto found = Within(first, limit, now_s)) return found;
  }
  return std::nullopt;
}

std::optional<Estimate> AmountSeries::Within(size_t first, double limit, double now_s) const {
  // A forecast reaches no further than growth was seen: the amount has grown by what is still free, at least.
  const double free = limit - parts_.back().low.value;
  const double grown = parts_.back().low.value - parts_[first].low.value;
  if (grown < 0.5 * free || grown < 0.5 * kLeastRise * limit) return std::nullopt;
  std::vector<TrendPoint> points;
  for (size_t i = first; i < parts_.size(); ++i) points.push_back(parts_[i].low);
  const std::vector<TrendPoint> lows = LowsOf(points, kPieces);
  if (lows.size() < kLeastPieces) return std::nullopt;
  const Estimate slope = SlopeOf(lows);
  const double seen_s = parts_.back().to_s - parts_[first].from_s;
  if (!(slope.low > 0) || slope.value * seen_s < kLeastRise * limit) return std::nullopt;
  const std::span all(lows);
  const Estimate later = SlopeOf(all.last(lows.size() / 2)), last = SlopeOf(all.last(lows.size() / 4));
  for (const Estimate& part : {SlopeOf(all.first(lows.size() / 2)), later, last}) {
    const double rate = part.value / slope.value;
    if (rate < kLeastRate || rate > kMostRate) return std::nullopt;
  }
  if ((limit - lows.back().value) / std::min(slope.value, later.value) > seen_s) return std::nullopt;
  // It is higher than ever before.
  for (size_t i = 0; i < first; ++i) {
    if (parts_[i].high.value >= lows.back().value) return std::nullopt;
  }
  // The line through the lows, and how high the amount rises above it.
  const double middle_s = (lows.front().time_s + lows.back().time_s) / 2;
  const auto above = [&](const TrendPoint& point) { return point.value - slope.value * (point.time_s - middle_s); };
  std::vector<double> levels, off, peaks;
  for (const TrendPoint& low : lows) levels.push_back(above(low));
  const double level = Median(levels);
  for (const double one : levels) off.push_back(std::abs(one - level));
  const double unsure = 2 * kMadToSigma * kMedianError * Median(off) / std::sqrt(static_cast<double>(lows.size()));
  for (size_t i = first; i < parts_.size(); ++i) points[i - first] = {parts_[i].high.time_s, -parts_[i].high.value};
  for (const TrendPoint& low : LowsOf(points, kPieces)) peaks.push_back(above({low.time_s, -low.value}));
  const double height = std::max(Median(peaks) - level, 0.0);
  const auto seconds = [&](double from, double rate) {
    return std::max(middle_s + (limit - from) / rate - now_s, 0.0);
  };
  const double value = seconds(level + height / 2, slope.value);
  return Estimate{value, std::min(seconds(level + height + unsure, slope.high), (1 - kNoLine) * value),
                  std::max(seconds(level - unsure, slope.low), (1 + kNoLine) * value)};
}

std::optional<ContainerUse> ContainerUseOf(const format::ProcessAccount& account) {
  const format::Amount used = account[AccountItem::kCgroupCurrent], limit = account[AccountItem::kCgroupMax];
  if (!used.is_known() || !limit.is_known() || limit.value() == 0) return std::nullopt;
  // `file` has shared memory, which cannot be dropped.
  const uint64_t file = account[AccountItem::kCgroupFile].ValueOr(0);
  const uint64_t dropped = file - std::min(file, account[AccountItem::kCgroupShmem].ValueOr(0));
  return ContainerUse{used.value(), used.value() - std::min(used.value(), dropped), limit.value()};
}

const char* FillsName(Fills fills) { return fills == Fills::kOldGeneration ? "old generation" : "container"; }

void TimeToFull::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) Add(state);
}

void TimeToFull::Add(const format::ProcessState& snapshot) {
  if (snapshot.kind != format::ProcessStateKind::kSnapshot) return;
  const double time_s = static_cast<double>(snapshot.time_ns) * 1e-9;
  if (time_s < at_s_) return;  // late, from another lane
  at_s_ = time_s;
  account_.Update(snapshot.account);
  if (const auto use = ContainerUseOf(account_)) container_.Add(time_s, static_cast<double>(use->needed));
  // A point for each collection, because the amount is constant in between.
  const format::Amount old = account_[AccountItem::kOldAfterCollection];
  const bool is_new = snapshot.old_collections != std::exchange(old_collections_, snapshot.old_collections);
  if (old.is_known() && (is_new || old != old_before_)) old_generation_.Add(time_s, static_cast<double>(old.value()));
  old_before_ = old;
}

std::optional<TimeToFull::Answer> TimeToFull::Soonest() const {
  std::optional<Answer> soonest;
  const auto consider = [&](Fills fills, const AmountSeries& series, uint64_t used, uint64_t limit) {
    const auto seconds = series.SecondsTo(static_cast<double>(limit), at_s_);
    if (!seconds || (soonest && soonest->seconds.value <= seconds->value)) return;
    soonest = {fills, *seconds, at_s_, used, limit};
  };
  const format::Amount old = account_[AccountItem::kOldAfterCollection], most = account_[AccountItem::kOldMax];
  if (old.is_known() && most.is_known()) consider(Fills::kOldGeneration, old_generation_, old.value(), most.value());
  if (const auto use = ContainerUseOf(account_)) consider(Fills::kContainer, container_, use->needed, use->limit);
  return soonest;
}

}  // namespace heaprec::tools
