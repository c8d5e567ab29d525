// A group of tracked samples (a class, a site, ...) over one or several recordings: its live samples, growth and
// lifetimes.
//
//   LiveSnapshot look(lives, moments);                   // after the last block of a recording
//   for (const Lifetime& life : lives.all()) look.Add(life, groups);
//   look.Close(&of_class), look.Close(&of_site);         // each once
//
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "throttle/random.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/live/growth.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

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

struct LiveGroup {
  std::vector<LiveSample> alive;
  std::vector<std::vector<LiveSample>> series;  // the live samples at each time of LiveQueryTimes::series
  PerSpan<GrowthSum> growth;                    // growth of survivors
  LifeTable seconds, collections;
  uint64_t lives = 0, died = 0;  // in the life tables
  double born = 0;               // bytes that they represented at birth
  PerSpan<GrowthSum> open;       // growth in the current recording
};

// The times of a query, and what it measures.
struct LiveQueryTimes {
  uint64_t at_ns = 0;               // time at which live samples are listed
  uint64_t from_ns = 0, to_ns = 0;  // span for growth, and for births in the life tables
  uint64_t survived = 0;            // minimum of survived collections for live samples
  uint64_t grown = 1;               // the same for growth
  bool with_old_growth = false;     // also measure growth at collections of the old generation
  bool by_time = false;             // growth is measured at evenly spaced times, not at collections
  uint64_t least_age_ns = 0;        // minimum age of live samples
  bool lifetimes = false;
  uint64_t collections = 0;  // steps of the life table
  std::vector<uint64_t> series;
};

class LiveSnapshot {
 public:
  LiveSnapshot(const Lifetimes& lives, const LiveQueryTimes& moments);

  const std::vector<uint64_t>& instants() const { return growth_[kWholeTime].instants(); }
  void Add(const Lifetime& life, std::span<LiveGroup* const> groups);
  void Close(LiveGroup* group) const;

 private:
  std::optional<LiveSample> AliveAt(const Lifetime& life, uint64_t time_ns) const;
  void AddAlive(const Lifetime& life, std::span<LiveGroup* const> groups) const;
  void AddToSeries(const Lifetime& life, std::span<LiveGroup* const> groups) const;

  const Lifetimes& lives_;
  const LiveQueryTimes moments_;
  const PerSpan<Growth> growth_;
  const AgeAxis by_seconds_, by_collections_;
};

// Whether a group leaks: its bytes that survived collections grow significantly, given the number of groups. They must
// grow over the whole time, in its later half and, with `with_old_growth`, between collections of the old generation.
//
// Maths:    docs/estimates.md#growth
struct Leak {
  PerSpan<Slope> growth;
  double p = 1;  // the largest p of the spans
  double q = 1;  // lowest false discovery rate at which it is a leak
  bool leaks = false;
};

// Returns one per group, in order. `rate`: the false discovery rate.
std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate, bool with_old_growth);

// A random sample of many entries, of limited size, that represents all of them.
//
// Keeps each offered entry with the same probability: when `seen` have been offered, the new one replaces each entry
// with probability 1 / seen.
template <typename Entry>
class ReservoirSample {
 public:
  ReservoirSample(size_t most, uint64_t seed) : most_(most), random_(seed) {}
  // `make` is called only if the entry is kept.
  template <typename Make>
  void Offer(Make&& make) {
    ++seen_;
    if (kept_.size() < most_) {
      kept_.push_back(make());
    } else if (const uint64_t place = Below(seen_); place < most_) {
      kept_[place] = make();
    }
  }
  const std::vector<Entry>& kept() const { return kept_; }
  uint64_t seen() const { return seen_; }

 private:
  uint64_t Below(uint64_t bound) { return static_cast<uint64_t>(random_.Uniform() * static_cast<double>(bound)); }

  const size_t most_;
  throttle::Random random_;
  uint64_t seen_ = 0;
  std::vector<Entry> kept_;
};

}  // namespace heaprec::tools
