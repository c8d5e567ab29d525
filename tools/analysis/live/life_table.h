// How long objects live: the survival curve of a group of tracked samples, corrected for those that are still alive or
// not tracked any more (Kaplan and Meier's estimate, weighted, by steps of age).
//
//   const AgeAxis steps = AgeAxis::InSeconds(span_ns);      // or InCollections(8)
//   LifeTable of_site;
//   for (const Lifetime& life : ...) of_site.Add(steps.Of(life, lives));
//   for (const Survival& one : steps.CurveOf(of_site)) ...
//
// In a step counts who reached its beginning, and whom the recording would have shown at its end. Those alive at its
// end stand for what they do there, those that died in it for what they did at their death.
//
// Units:    ages in seconds, or in collections survived; shares, of bytes, from 0 to 1.
// Maths:    docs/estimates.md#lifetimes
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/lifetimes.h"

namespace heaprec::tools {

// What a sample tells of a step.
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
  };
  const std::vector<Step>& steps() const { return steps_; }
  uint64_t deaths() const { return deaths_; }

 private:
  std::vector<Step> steps_;
  uint64_t deaths_ = 0;
};

// The share of a group that reaches an age.
struct Survival {
  double age = 0;
  Estimate reached;
};

// The age that half of a group does not reach. nullopt: more than half reach all ages that were seen.
struct MedianLifetime {
  std::optional<double> value, low, high;
};

class AgeAxis {
 public:
  // Ages in seconds: four steps per doubling, from 10 ms.
  static AgeAxis InSeconds(uint64_t span_ns);
  // Ages in collections: one step each, `most` in all.
  static AgeAxis InCollections(uint64_t most);

  std::vector<AgeStep> Of(const Lifetime& life, const Lifetimes& lives) const;
  // From the first step on, as far as samples tell.
  std::vector<Survival> CurveOf(const LifeTable& group) const;
  static MedianLifetime MedianOf(const std::vector<Survival>& curve);
  // The share that reaches an age, by a straight line between the steps. nullopt: the curve does not go so far.
  static std::optional<Estimate> ReachedAt(const std::vector<Survival>& curve, double age);

 private:
  explicit AgeAxis(bool by_collections) : by_collections_(by_collections) {}
  std::vector<AgeStep> BySeconds(const Lifetime& life, const Lifetimes& lives) const;
  std::vector<AgeStep> ByCollections(const Lifetime& life, const Lifetimes& lives) const;

  const bool by_collections_;
  std::vector<uint64_t> ends_;  // of the steps: ns, or collections survived
};

}  // namespace heaprec::tools
