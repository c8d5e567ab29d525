#include "tools/analysis/live/live_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/analysis/estimate/difference.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kFirstStepNs = 10'000'000;
constexpr double kStepsOfDoubling = 4;

}  // namespace

void LifeTable::Add(const std::vector<AgeStep>& life) {
  double kept = 0;
  for (const AgeStep& of : life) {
    if (of.step >= steps_.size()) steps_.resize(of.step + size_t{1});
    Step& step = steps_[of.step];
    (of.died ? step.died : step.lived) += of.weight;
    step.squares += of.weight * of.weight;
    if (!of.died) step.lived_squares += of.weight * of.weight;
    if (!of.died) kept += of.weight;
    deaths_ += of.died;
  }
  kept_.bytes += kept;
  kept_.variance += kept * kept;
}

AgeAxis AgeAxis::InSeconds(uint64_t span_ns) {
  AgeAxis steps(false);
  for (double step = 0;; ++step) {
    const double end = static_cast<double>(kFirstStepNs) * std::exp2(step / kStepsOfDoubling);
    if (end > static_cast<double>(span_ns)) return steps;
    steps.ends_.push_back(static_cast<uint64_t>(end));
  }
}

AgeAxis AgeAxis::InCollections(uint64_t most) {
  AgeAxis steps(true);
  for (uint64_t survived = 1; survived <= most; ++survived) steps.ends_.push_back(survived);
  return steps;
}

std::vector<AgeStep> AgeAxis::Of(const Lifetime& life, const Lifetimes& lives) const {
  return by_collections_ ? ByCollections(life, lives) : BySeconds(life, lives);
}

std::vector<AgeStep> AgeAxis::BySeconds(const Lifetime& life, const Lifetimes& lives) const {
  std::vector<AgeStep> told;
  const uint64_t first_age = life.from_ns - life.birth_ns;
  for (uint32_t step = 0; step < ends_.size(); ++step) {
    const uint64_t begin = step > 0 ? ends_[step - 1] : 0, end_ns = life.birth_ns + ends_[step];
    if (end_ns > lives.end_ns()) break;
    if (begin < first_age) continue;
    if (life.IsTrackedAt(end_ns)) {
      told.push_back({step, lives.WeightAt(life, end_ns), false});
      continue;
    }
    if (life.end == LifetimeEnd::kDied && life.end_ns > life.birth_ns + begin) {
      told.push_back({step, lives.WeightAt(life, life.end_ns), true});
    }
    break;
  }
  return told;
}

// The collection that ends a step is the one that the life has yet to survive: its number is gcs_at_birth + step + 1.
std::vector<AgeStep> AgeAxis::ByCollections(const Lifetime& life, const Lifetimes& lives) const {
  std::vector<AgeStep> told;
  const auto& looks = lives.clock().counts();
  auto look = std::upper_bound(looks.begin(), looks.end(), life.gcs_at_birth,
                               [](uint64_t completed, const auto& one) { return completed < one.second; });
  const uint64_t survived = life.Survived();
  // The deaths found by a collection are useless if its survivors are unknown.
  const uint64_t known = lives.checked_ns() == ReferenceChecks::kToTheEnd
                             ? std::numeric_limits<uint64_t>::max()
                             : lives.clock().CollectionsEndedBy(lives.checked_ns());
  for (uint32_t step = 0; step < ends_.size() && life.gcs_at_birth + step + 1 <= known; ++step) {
    while (look != looks.end() && look->second < life.gcs_at_birth + step + 1) ++look;
    if (look == looks.end()) break;
    const bool died = life.end == LifetimeEnd::kDied && step == survived;
    if (died) {
      told.push_back({step, lives.WeightAt(life, life.end_ns), true});
      break;
    }
    if (step >= survived) break;
    if (life.IsTrackedAt(look->first)) told.push_back({step, lives.WeightAt(life, look->first), false});
  }
  return told;
}

std::vector<Survival> AgeAxis::CurveOf(const LifeTable& group) const {
  std::vector<Survival> curve;
  double reached = 1, greenwood = 0;
  for (size_t i = 0; i < group.steps().size() && i < ends_.size(); ++i) {
    const LifeTable::Step& step = group.steps()[i];
    const double all = step.lived + step.died;
    if (!(all > 0)) break;
    const double samples = all * all / step.squares, dies = step.died / all;
    reached *= 1 - dies;
    // Greenwood's formula: the variance of the logarithm. Once all are dead nothing is added.
    if (step.lived > 0) greenwood += dies / ((1 - dies) * samples);
    const double age = by_collections_ ? static_cast<double>(ends_[i]) : static_cast<double>(ends_[i]) * 1e-9;
    Estimate share = ShareInterval(reached, reached * reached * greenwood, 1 / samples);
    // With few remaining samples the interval is wide, but not more objects reach an age than reached the previous one.
    if (!curve.empty()) share.high = std::min(share.high, curve.back().reached.high);
    curve.push_back({age, share});
    if (!(step.lived > 0)) break;
  }
  return curve;
}

MedianLifetime AgeAxis::MedianOf(const std::vector<Survival>& curve) {
  const auto crosses = [&curve](double Estimate::*side) -> std::optional<double> {
    double age = 0, reached = 1;
    for (const Survival& one : curve) {
      const double next = one.reached.*side;
      if (next < 0.5) return age + (one.age - age) * (reached - 0.5) / (reached - next);
      age = one.age, reached = next;
    }
    return std::nullopt;
  };
  return {crosses(&Estimate::value), crosses(&Estimate::low), crosses(&Estimate::high)};
}

std::optional<Estimate> AgeAxis::ReachedAt(const std::vector<Survival>& curve, double age) {
  Survival before{0, {1, 1, 1}};
  for (const Survival& one : curve) {
    if (one.age >= age) {
      const double part = (age - before.age) / (one.age - before.age);
      return Estimate{std::lerp(before.reached.value, one.reached.value, part),
                      std::lerp(before.reached.low, one.reached.low, part),
                      std::lerp(before.reached.high, one.reached.high, part)};
    }
    before = one;
  }
  // No object was left to be observed later.
  if (!curve.empty() && before.reached.value == 0) return before.reached;
  return std::nullopt;
}

namespace {

std::vector<uint64_t> LaterHalf(const std::vector<uint64_t>& instants) {
  if (instants.empty()) return {};
  const uint64_t middle = instants.front() + (instants.back() - instants.front()) / 2;
  std::vector<uint64_t> later;
  for (const uint64_t instant : instants) {
    if (instant >= middle) later.push_back(instant);
  }
  return later;
}

std::vector<uint64_t> InstantsIn(const Lifetimes& lives, const LiveQueryTimes& moments) {
  if (moments.by_time) return EvenlySpacedInstants(moments.from_ns, moments.to_ns);
  return CollectionInstants(lives, moments.from_ns, moments.to_ns, moments.grown);
}

PerSpan<Growth> GrowthIn(const Lifetimes& lives, const LiveQueryTimes& moments) {
  const std::vector<uint64_t> instants = InstantsIn(lives, moments);
  std::vector<uint64_t> old;
  if (moments.with_old_growth) old = OldCollectionInstants(lives, moments.from_ns, moments.to_ns);
  return {Growth(instants, moments.grown), Growth(LaterHalf(instants), moments.grown),
          Growth(std::move(old), 1, Growth::Collections::kOld)};
}

}  // namespace

LiveSnapshot::LiveSnapshot(const Lifetimes& lives, const LiveQueryTimes& moments)
    : lives_(lives),
      moments_(moments),
      growth_(GrowthIn(lives, moments)),
      by_seconds_(AgeAxis::InSeconds(moments.lifetimes ? lives.end_ns() : 0)),
      by_collections_(AgeAxis::InCollections(moments.collections)) {}

void LiveSnapshot::Add(const Lifetime& life, std::span<LiveGroup* const> groups) {
  AddAlive(life, groups);
  AddToSeries(life, groups);
  for (size_t span = 0; span < kGrowthSpans; ++span) {
    const GrowthContribution part = growth_[span].Contribution(life, lives_);
    for (LiveGroup* group : groups) group->open[span].Add(part);
  }
  if (!moments_.lifetimes || life.birth_ns < moments_.from_ns || life.birth_ns >= moments_.to_ns) return;
  const std::vector<AgeStep> seconds = by_seconds_.Of(life, lives_), collections = by_collections_.Of(life, lives_);
  for (LiveGroup* group : groups) {
    group->seconds.Add(seconds);
    group->collections.Add(collections);
    ++group->lives;
    group->died += life.end == LifetimeEnd::kDied ? 1 : 0;
    group->born += life.share * life.weight;
  }
}

// nullopt: it is not live at that time, or is not selected.
std::optional<LiveSample> LiveSnapshot::AliveAt(const Lifetime& life, uint64_t time_ns) const {
  if (!life.IsTrackedAt(time_ns) || time_ns - life.birth_ns < moments_.least_age_ns) return std::nullopt;
  const uint64_t survived = lives_.SurvivedBy(life, time_ns);
  if (survived < moments_.survived) return std::nullopt;
  return LiveSample{lives_.WeightAt(life, time_ns), static_cast<double>(life.size),
                    static_cast<double>(time_ns - life.birth_ns) * 1e-9, static_cast<double>(survived)};
}

void LiveSnapshot::AddAlive(const Lifetime& life, std::span<LiveGroup* const> groups) const {
  if (const auto alive = AliveAt(life, moments_.at_ns)) {
    for (LiveGroup* group : groups) group->alive.push_back(*alive);
  }
}

void LiveSnapshot::AddToSeries(const Lifetime& life, std::span<LiveGroup* const> groups) const {
  for (size_t i = 0; i < moments_.series.size(); ++i) {
    const auto alive = AliveAt(life, moments_.series[i]);
    if (!alive) continue;
    for (LiveGroup* group : groups) {
      group->series.resize(moments_.series.size());
      group->series[i].push_back(*alive);
    }
  }
}

void LiveSnapshot::Close(LiveGroup* group) const {
  for (size_t span = 0; span < kGrowthSpans; ++span) {
    GrowthSum &all = group->growth[span], &open = group->open[span];
    growth_[span].Close(&open);
    if (all.slope_square_sum == 0 && all.bytes.empty()) {
      all = std::move(open);
    } else {
      all += open;
    }
    open = {};
  }
}

std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate, bool with_old_growth) {
  std::vector<Leak> leaks;
  std::vector<Difference> rows;
  for (const LiveGroup* group : groups) {
    Leak leak;
    Difference row;
    // A group without live bytes at the end has no leak, however fast it grew.
    leak.p = group->alive.empty() ? 1 : 0;
    row.least_p = 0;
    for (size_t span = 0; span < kGrowthSpans; ++span) {
      const Slope& slope = leak.growth[span] = Growth::Of(group->growth[span]);
      if (span == kOldCollections && !with_old_growth) continue;
      leak.p = std::max(leak.p, slope.p);
      row.least_p = std::max(row.least_p, slope.least_p);
    }
    row.after = leak.growth[kWholeTime].per_second;
    row.p = leak.p;
    leaks.push_back(leak);
    rows.push_back(row);
  }
  Judge(&rows, rate);
  for (size_t i = 0; i < rows.size(); ++i) {
    leaks[i].q = rows[i].q;
    leaks[i].leaks = rows[i].verdict == Verdict::kNew || rows[i].verdict == Verdict::kMore;
  }
  return leaks;
}

}  // namespace heaprec::tools
