// A group of tracked samples (a class, a site, ...) over one recording or several: who of it is alive, how its bytes
// grow, how long its objects live.
//
//   LiveSnapshot look(lives, {...});                     // after the last block of a recording
//   for (const Lifetime& life : lives.all()) look.Add(life, {&of_class, &of_site});
//   look.Close(&of_class), look.Close(&of_site);     // each once
//
// Threads:  one.
// Maths:    docs/streams.md#live-objects
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/analysis/live/growth.h"
#include "tools/analysis/live/life_table.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {

struct LiveGroup {
  std::vector<LiveSample> alive;
  std::vector<std::vector<LiveSample>> series;  // likewise, at each of the moments of LiveQueryTimes::course
  GrowthSum growth, late;                       // of what survived; late: in the later half of the time
  GrowthSum old;                                // of what survived a collection of the old generation
  LifeTable seconds, collections;
  uint64_t lives = 0, died = 0;         // in the life tables
  double born = 0;                      // bytes that they stood for at their birth
  GrowthSum open, open_late, open_old;  // of the recording at hand
};

// When a recording is looked at, and for what.
struct LiveQueryTimes {
  uint64_t at_ns = 0;               // who is alive
  uint64_t from_ns = 0, to_ns = 0;  // over which growth is measured; lives of what was born meanwhile
  uint64_t survived = 0;            // only what has survived so many collections counts as alive
  uint64_t grown = 1;               // likewise, of growth
  bool of_old = false;              // whether growth is also measured at collections of the old generation
  bool by_time = false;             // growth is looked at evenly in time, not at collections
  uint64_t least_age_ns = 0;        // only what is as old counts as alive
  bool lifetimes = false;
  uint64_t collections = 0;  // of the life table
  std::vector<uint64_t> series;
};

class LiveSnapshot {
 public:
  LiveSnapshot(const Lifetimes& lives, const LiveQueryTimes& moments);

  const std::vector<uint64_t>& instants() const { return growth_.instants(); }
  void Add(const Lifetime& life, std::span<LiveGroup* const> groups);
  void Close(LiveGroup* group) const;

 private:
  std::optional<LiveSample> AliveAt(const Lifetime& life, uint64_t time_ns) const;
  void AddAlive(const Lifetime& life, std::span<LiveGroup* const> groups) const;
  void AddCourse(const Lifetime& life, std::span<LiveGroup* const> groups) const;

  const Lifetimes& lives_;
  const LiveQueryTimes moments_;
  const Growth growth_, late_, old_;
  const AgeAxis by_seconds_, by_collections_;
};

// Which of many groups leak. The bytes of a leak that survived collections grow by more than chance explains, given the
// number of groups: over the whole time, in its later half and, with `of_old`, between collections of the old
// generation.
//
// Context:  pure functions.
// Maths:    docs/estimates.md#growth
struct Leak {
  Slope all, late, old;
  double p = 1;  // of the least certain of them
  double q = 1;  // the least false discovery rate at which it counts as a leak
  bool leaks = false;
};

// In the order of the groups. `rate`: the false discovery rate.
std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate, bool of_old);

}  // namespace heaprec::tools
