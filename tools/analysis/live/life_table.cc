#include "tools/analysis/live/life_table.h"

#include <algorithm>
#include <cmath>

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

}  // namespace heaprec::tools
