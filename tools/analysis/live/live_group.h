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
#include "tools/analysis/live/growth.h"
#include "tools/analysis/live/life_table.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

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
