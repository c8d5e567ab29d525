// Applications with many sites of known truth, for the estimators: what they allocate, recorded by the whole chain.
//
// Units:    bytes, objects; time in seconds.   Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/reader/reader.h"
#include "tests/support/simulated_load.h"
#include "tests/support/simulated_recorder.h"
#include "tests/tools/analysis/simulated_census.h"

namespace heaprec::testing {

inline constexpr uint32_t kAppSites = 24;

// Shares from 25 % down to 0.2 %, of objects of 24 B to 6 kB in no order of the shares.
class SiteMix {
 public:
  // Site k takes the place of site (k + shift) mod kAppSites. `arrays`: so large a part of the bytes of every fourth
  // site is arrays of 64 KB to 2 MB.
  // `changes`: sites with so many times the share.
  explicit SiteMix(uint32_t shift = 0, double arrays = 0, const std::map<uint32_t, double>& changes = {})
      : arrays_(arrays) {
    double sum = 0;
    for (uint32_t k = 0; k < kAppSites; ++k) {
      const auto change = changes.find(k);
      const double times = change != changes.end() ? change->second : 1;
      const double share = times * std::exp(-0.21 * ((k + shift) % kAppSites));
      sum += share / MeanSize(k);
      until_[k] = sum;
    }
    for (double& until : until_) until /= sum;
  }
  std::pair<uint32_t, uint64_t> Draw(throttle::Random& random) const {
    const auto k =
        static_cast<uint32_t>(std::lower_bound(until_.begin(), until_.end() - 1, random.Uniform()) - until_.begin());
    if (HasArrays(k) &&
        random.Uniform() < arrays_ * SmallSize(k) / (kMeanArray * (1 - arrays_) + arrays_ * SmallSize(k)))
      return {k, uint64_t{64 << 10} << random.Next() % 6};
    return {k, static_cast<uint64_t>(SmallSize(k) * (0.5 + random.Uniform())) / 8 * 8};
  }

 private:
  static constexpr double kMeanArray = 64 * 1024 * 63 / 6.0;
  static double SmallSize(uint32_t k) { return 32 << (k * 5 % 8); }
  bool HasArrays(uint32_t k) const { return arrays_ > 0 && k % 4 == 2; }
  double MeanSize(uint32_t k) const {
    if (!HasArrays(k)) return SmallSize(k);
    const double often = arrays_ * SmallSize(k) / (kMeanArray * (1 - arrays_) + arrays_ * SmallSize(k));
    return often * kMeanArray + (1 - often) * SmallSize(k);
  }
  double arrays_;
  std::array<double, kAppSites> until_;
};

// The same load, but its sites are those of `first`, and of `second` in every second span of `seconds`.
struct App {
  std::string name;
  uint32_t threads = 1;
  std::function<double(uint32_t thread, double time)> rate;
  TlabShape tlab;
  SiteMix first, second;
  double seconds = 1e9;
};

inline std::vector<App> Apps() {
  const TlabShape small{}, large{.least = 1 << 20, .most = 2 << 20};
  const auto odd = [](double t, double seconds) { return static_cast<int>(t / seconds) % 2 == 1; };
  return {
      {"steady", 2, [](uint32_t, double) { return 1.5e6; }, small, SiteMix(), SiteMix()},
      {"phases x50", 4, [odd](uint32_t, double t) { return odd(t, 2) ? 1.8e6 : 3.6e4; }, small, SiteMix(), SiteMix(8),
       2},
      {"two phases", 4, [](uint32_t, double) { return 9e5; }, small, SiteMix(), SiteMix(12), 2},
      {"bursts", 4, [](uint32_t, double t) { return t - std::floor(t) < 0.15 ? 6e6 : 1e4; }, small, SiteMix(),
       SiteMix(8), 1},
      {"arrays", 2, [](uint32_t, double) { return 4e6; }, small, SiteMix(0, 0.8), SiteMix(0, 0.8)},
      {"100 threads", 100, [odd](uint32_t k, double t) { return (k % 2 == 0) == odd(t, 2) ? 6e4 : 0.0; }, large,
       SiteMix(), SiteMix(12), 2},
  };
}

using Allocation = SimulatedRecorder::Allocation;

// Ways to take an application apart: which of its parts an allocation belongs to; kNoPart: none.
inline constexpr uint32_t kNoPart = ~0u;
struct TimeSlice {
  const char* name;
  bool is_in_rows;
  uint32_t parts;
  uint32_t (*part)(const Allocation& of);
};
inline const std::vector<TimeSlice>& Cuts() {
  constexpr uint64_t kMs = 1'000'000;
  static const std::vector<TimeSlice> cuts{
      {"site", true, kAppSites, [](const Allocation& of) { return of.site; }},
      {"method", true, kAppSites / 2, [](const Allocation& of) { return MethodOfSite(of.site); }},
      {"class", true, kAppSites / 4, [](const Allocation& of) { return ClassOfSite(of.site); }},
      {"thread (4 groups)", false, 4, [](const Allocation& of) { return of.thread % 4; }},
      {"every sixth site", true, 6, [](const Allocation& of) { return of.site % 6; }},
      {"class, 3.3 to 7.6 s", false, kAppSites / 4,
       [](const Allocation& of) {
         return of.time_ns > 3300 * kMs && of.time_ns < 7600 * kMs ? ClassOfSite(of.site) : kNoPart;
       }},
      {"class, by size", false, kAppSites / 2,
       [](const Allocation& of) { return 2 * ClassOfSite(of.site) + (of.size > 200); }},
  };
  return cuts;
}

struct Truth {
  struct Part {
    double bytes = 0, objects = 0;
  };
  std::vector<std::vector<Part>> cuts;
  double all_bytes = 0;

  Truth() {
    for (const TimeSlice& cut : Cuts()) cuts.emplace_back(cut.parts);
  }
  void Count(const Allocation& one) {
    const auto size = static_cast<double>(one.size);
    all_bytes += size;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const uint32_t part = Cuts()[i].part(one);
      if (part == kNoPart) continue;
      cuts[i][part].bytes += size;
      cuts[i][part].objects += 1;
    }
  }
};

// One run of an application, recorded: its truth, and a block per interval as a reader would give it, with samples and
// with rows.
struct AppRun {
  Truth truth;
  format::FileHeader header;
  std::vector<format::Block> blocks;
  std::unique_ptr<format::Dictionaries> names = std::make_unique<format::Dictionaries>();  // stacks: sites
};

inline void AddPoint(uint32_t site, uint64_t size, double weight, std::map<uint32_t, format::Row>* rows) {
  format::Row& row = (*rows)[site];
  row.class_id = ClassOfSite(site), row.stack = site;
  row.Add(size, weight);
}

inline void NamePlaces(uint32_t threads, format::Dictionaries* names, uint32_t sites = kAppSites) {
  for (uint32_t site = 0; site < sites; ++site) {
    names->classes.resize(ClassOfSite(site) + 1, "C" + std::to_string(ClassOfSite(site)));
    names->methods.resize(MethodOfSite(site) + 1, {"C", "m" + std::to_string(MethodOfSite(site)), "()V"});
    names->frames.push_back({MethodOfSite(site), static_cast<int32_t>(site), 1});
    names->stacks.push_back({format::kNone, site, false});
  }
  for (uint32_t thread = 0; thread < threads; ++thread) names->threads.push_back({thread + 1, thread + 1, false, "t"});
}

inline format::Sample ToSample(const KeptSample& kept, uint64_t interval_ns, uint64_t id) {
  format::Sample sample{
      .id = id,
      .time_ns = std::clamp(kept.time_ns, kept.interval * interval_ns, (kept.interval + 1) * interval_ns - 1),
      .thread = kept.thread,
      .class_id = ClassOfSite(kept.site),
      .stack = kept.site,
      .size = static_cast<uint64_t>(kept.size)};
  sample.window = kept.window;
  sample.weight = kept.weight;
  return sample;
}

// `surplus` 0: that of the rate. `load_seed`: of what is allocated, `seed`: of what is sampled of it. `walked`: part of
// the TLABs that a census walks.
inline AppRun RunApp(const App& app, double rate_per_second, double surplus, double seconds, uint64_t seed,
                     uint64_t load_seed, double walked = 0) {
  AppRun run;
  throttle::ControllerConfig config = throttle::ConfigFor(rate_per_second, 1e6);
  if (surplus > 0) config.oversampling = surplus;
  run.header.interval_ns = config.interval_ns;
  run.header.source = "hooks";
  NamePlaces(app.threads, run.names.get());
  SimulatedRecorder recorder(config, kAppSites, seed);
  SimulatedCensus census(walked, throttle::Mix64(~seed));
  recorder.watch = [&](const Allocation& one) {
    run.truth.Count(one);
    if (walked > 0) census.Count(one);
  };
  std::map<uint64_t, std::map<uint32_t, format::Row>> rows;  // by interval and site
  recorder.on_point = [&](uint64_t interval, uint32_t site, uint64_t size, double weight) {
    AddPoint(site, size, weight, &rows[interval]);
  };
  const Load load{app.name, app.threads, app.rate, app.tlab, [&app](uint64_t, double time, throttle::Random& random) {
                    const bool second = static_cast<int>(time / app.seconds) % 2 == 1;
                    return (second ? app.second : app.first).Draw(random);
                  }};
  Run(load, seconds, load_seed, &recorder);
  run.blocks.resize(recorder.counted().size());
  if (walked > 0) {
    run.header.census = walked < 1 ? format::CensusMode::kDrawn : format::CensusMode::kAll;
    run.blocks.back().census = census.Rows();
  }
  for (size_t i = 0; i < run.blocks.size(); ++i) {
    run.blocks[i].dictionaries = run.names.get();
    format::Interval interval;
    interval.index = i;
    interval.bytes = recorder.counted()[i];
    run.blocks[i].intervals.push_back(interval);
    for (const auto& [site, row] : rows[i]) run.blocks[i].rows.push_back(row);
  }
  for (const KeptSample& kept : recorder.samples()) {
    format::Block& block = run.blocks[kept.interval];
    block.windows.push_back({kept.window, 0, kept.lambda});
    block.samples.push_back(ToSample(kept, config.interval_ns, block.samples.size()));
  }
  return run;
}

inline AppRun RunApp(const App& app, double rate_per_second, double surplus, double seconds, uint64_t seed) {
  return RunApp(app, rate_per_second, surplus, seconds, seed, seed);
}

}  // namespace heaprec::testing
