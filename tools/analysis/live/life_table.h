// How long objects live: the survival curve of a group of tracked samples, corrected for those that are still live or
// no longer tracked (Kaplan and Meier's estimate, weighted, by steps of age).
//
//   const AgeAxis steps = AgeAxis::InSeconds(span_ns);      // or InCollections(8)
//   LifeTable of_site;
//   for (const Lifetime& life : lives.all()) of_site.Add(steps.Of(life, lives));
//   for (const Survival& one : steps.CurveOf(of_site)) ...
//
// A step includes the objects that reached its beginning and that the recording would still show at its end. An object
// that is live at the end has its weight at that time, one that died within the step its weight at death.
//
// Units:    ages in seconds, or in collections survived; shares, of bytes, from 0 to 1.
// Maths:    docs/estimates.md#lifetimes
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

// The contribution of a sample to a step.
struct AgeStep {
  uint32_t step = 0;
  double weight = 0;
  bool died = false;
};

class LifeTable {
 public:
  void Add(const std::vector<AgeStep>& life);
  struct Step {
    double lived = 0, died = 0, squares = 0;
    double lived_squares = 0;  // sum of the squares of the weights in `lived`
  };
  const std::vector<Step>& steps() const { return steps_; }
  uint64_t deaths() const { return deaths_; }
  // The bytes that lived at the end of the steps, summed over the steps, with their variance. In steps of collections:
  // what collections had to keep.
  const LiveTotal& kept() const { return kept_; }

 private:
  std::vector<Step> steps_;
  uint64_t deaths_ = 0;
  LiveTotal kept_;
};

// The share of a group that reaches an age.
struct Survival {
  double age = 0;
  Estimate reached;
};

// The age that half of a group does not reach. nullopt: more than half reach all observed ages.
struct MedianLifetime {
  std::optional<double> value, low, high;
};

class AgeAxis {
 public:
  // Ages in seconds: four steps per doubling, from 10 ms.
  static AgeAxis InSeconds(uint64_t span_ns);
  // Ages in collections: `most` steps of one collection each.
  static AgeAxis InCollections(uint64_t most);

  std::vector<AgeStep> Of(const Lifetime& life, const Lifetimes& lives) const;
  // Returns the curve from the first step on, as far as there are samples.
  std::vector<Survival> CurveOf(const LifeTable& group) const;
  static MedianLifetime MedianOf(const std::vector<Survival>& curve);
  // The share that reaches an age, interpolated linearly between steps. nullopt: the curve ends before.
  static std::optional<Estimate> ReachedAt(const std::vector<Survival>& curve, double age);

 private:
  explicit AgeAxis(bool by_collections) : by_collections_(by_collections) {}
  std::vector<AgeStep> BySeconds(const Lifetime& life, const Lifetimes& lives) const;
  std::vector<AgeStep> ByCollections(const Lifetime& life, const Lifetimes& lives) const;

  const bool by_collections_;
  std::vector<uint64_t> ends_;  // of the steps: ns, or collections survived
};

}  // namespace heaprec::tools
