// A process whose objects are tracked as a recorder follows them, with the truth: what is alive when, and how long
// objects live.
//
// Collections come in equal distances and find all that is dead. Objects are drawn by the byte, with a rate that
// changes from interval to interval so that weights differ; of those drawn a reservoir keeps `bound` by priority
// sampling.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "throttle/random.h"
#include "tools/analysis/live/lifetimes.h"

namespace heaprec::testing {

inline constexpr uint64_t kSecondNs = 1'000'000'000;

struct SimulatedSite {
  double per_second = 0;                                    // objects
  uint64_t size = 0;                                        // on average: from half of it to 1.5 times
  std::function<double(throttle::Random*, double)> life_s;  // of an object born at a time (s)
};

struct SimulatedProcess {
  std::vector<SimulatedSite> sites;
  double seconds = 60, collection_s = 0.7;
  double bytes_a_sample = 8'000;
  size_t bound = 200;
};

// An object as it was: found dead by the collection after its death.
struct TrueLife {
  uint32_t site = 0;
  uint64_t birth_ns = 0, found_ns = 0, size = 0;
  uint64_t gcs_at_birth = 0, found_in = 0;  // collections counted, `found_in` with the one that found it
};

struct SimulatedRun {
  std::vector<TrueLife> truth;
  std::vector<format::Block> blocks;
  std::vector<std::vector<uint32_t>> sites;  // of the blocks' samples
  uint64_t end_ns = 0, bound = 0;
  size_t max_tracked = 0;

  double TrueBytes(uint32_t site, uint64_t time_ns, uint64_t collections_at, uint64_t survived = 0) const {
    double bytes = 0;
    for (const TrueLife& one : truth) {
      const bool counts = one.site == site && one.birth_ns <= time_ns && time_ns < one.found_ns;
      if (counts && collections_at >= one.gcs_at_birth + survived) bytes += static_cast<double>(one.size);
    }
    return bytes;
  }
  tools::Lifetimes Lifetimes() const {
    tools::Lifetimes lives(format::FileHeader{});
    for (size_t i = 0; i < blocks.size(); ++i) lives.Add(blocks[i], sites[i], {});
    lives.Close(end_ns);
    return lives;
  }
};

class SimulatedTracker {
 public:
  SimulatedTracker(const SimulatedProcess& process, uint64_t seed) : process_(process), random_(seed) {}

  SimulatedRun Run() {
    Allocate();
    run_.end_ns = static_cast<uint64_t>(process_.seconds * 1e9);
    for (uint64_t begin_ns = 0; begin_ns < run_.end_ns; begin_ns += kSecondNs) RunInterval(begin_ns);
    run_.blocks.back().ending = {run_.end_ns, "jvm exit"};
    return std::move(run_);
  }

 private:
  struct Tracked {
    double priority;
    uint64_t id, found_ns, found_in;
  };

  void Allocate() {
    for (uint32_t site = 0; site < process_.sites.size(); ++site) {
      const SimulatedSite& of = process_.sites[site];
      for (double at = random_.Exponential() / of.per_second; at < process_.seconds;
           at += random_.Exponential() / of.per_second) {
        AddObject(site, at, at + of.life_s(&random_, at));
      }
    }
    std::sort(run_.truth.begin(), run_.truth.end(),
              [](const TrueLife& a, const TrueLife& b) { return a.birth_ns < b.birth_ns; });
  }

  void AddObject(uint32_t site, double birth_s, double death_s) {
    TrueLife one;
    one.site = site;
    one.birth_ns = static_cast<uint64_t>(birth_s * 1e9);
    one.size = 16 + static_cast<uint64_t>(static_cast<double>(process_.sites[site].size) * (0.5 + random_.Uniform()));
    one.gcs_at_birth = static_cast<uint64_t>(birth_s / process_.collection_s);
    const double finder = std::floor(death_s / process_.collection_s) + 1;
    const bool is_found = finder * process_.collection_s < process_.seconds;
    one.found_in = is_found ? static_cast<uint64_t>(finder) : std::numeric_limits<uint64_t>::max();
    // The look comes a moment after the collection.
    one.found_ns = is_found ? CollectionNs(one.found_in) + 2'000'000 : std::numeric_limits<uint64_t>::max();
    run_.truth.push_back(one);
  }

  uint64_t CollectionNs(uint64_t number) const {
    return static_cast<uint64_t>(static_cast<double>(number) * process_.collection_s * 1e9);
  }

  void RunInterval(uint64_t begin_ns) {
    const uint64_t end_ns = begin_ns + kSecondNs;
    format::Block block;
    block.end_ns = end_ns;
    AddStates(begin_ns, end_ns, &block);
    run_.sites.emplace_back();
    const double lambda = (0.5 + random_.Uniform()) / process_.bytes_a_sample;
    for (; next_ < run_.truth.size() && run_.truth[next_].birth_ns < end_ns; ++next_) Draw(lambda, end_ns, &block);
    FindDead(end_ns, &block);
    Release(end_ns, &block);
    std::sort(block.lifecycle_events.begin(), block.lifecycle_events.end(),
              [](const format::LifecycleEvent& a, const format::LifecycleEvent& b) { return a.time_ns < b.time_ns; });
    run_.blocks.push_back(std::move(block));
  }

  void AddStates(uint64_t begin_ns, uint64_t end_ns, format::Block* block) {
    if (begin_ns == 0) block->states.emplace_back();
    for (; CollectionNs(collections_ + 1) < end_ns; ++collections_) {
      format::ProcessState state;
      state.time_ns = std::max(CollectionNs(collections_ + 1), begin_ns);
      state.kind = format::ProcessStateKind::kGcEnd;
      state.collections = collections_ + 1;
      block->states.push_back(state);
    }
  }

  void Draw(double lambda, uint64_t end_ns, format::Block* block) {
    const TrueLife& one = run_.truth[next_];
    const auto size = static_cast<double>(one.size);
    const double chance = -std::expm1(-lambda * size);
    if (random_.Uniform() >= chance) return;
    format::Sample sample{.id = ++ids_, .time_ns = one.birth_ns};
    sample.size = one.size;
    sample.weight = size / chance;
    block->samples.push_back(sample);
    run_.sites.back().push_back(one.site);
    const double priority = sample.weight / (1 - random_.Uniform());
    tracked_.push_back({priority, sample.id, one.found_ns, one.found_in});
    (void)end_ns;
  }

  void FindDead(uint64_t end_ns, format::Block* block) {
    std::erase_if(tracked_, [&](const Tracked& one) {
      if (one.found_ns >= end_ns) return false;
      block->lifecycle_events.push_back({one.id, one.found_ns, format::LifecycleKind::kDied, one.found_in - 1, 0});
      return true;
    });
  }

  void Release(uint64_t end_ns, format::Block* block) {
    std::sort(tracked_.begin(), tracked_.end(),
              [](const Tracked& a, const Tracked& b) { return a.priority > b.priority; });
    for (; tracked_.size() > process_.bound; tracked_.pop_back()) {
      const Tracked& out = tracked_.back();
      block->lifecycle_events.push_back({out.id, end_ns, format::LifecycleKind::kEvicted, collections_, out.priority});
    }
    run_.max_tracked = std::max(run_.max_tracked, tracked_.size());
  }

  const SimulatedProcess process_;
  throttle::Random random_;
  SimulatedRun run_;
  std::vector<Tracked> tracked_;
  uint64_t ids_ = 0, collections_ = 0;
  size_t next_ = 0;
};

}  // namespace heaprec::testing
