// Applications as arrivals: who allocates how much when, and in what sizes.
//
// Units:    time in seconds, sizes in bytes.   Threads: one.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/simulated_recorder.h"

namespace heaprec::testing {

inline constexpr uint32_t kSites = 4;

// One allocation: where and how large. `n` counts the thread's allocations.
using Objects = std::function<std::pair<uint32_t, uint64_t>(uint64_t n, double time, throttle::Random& random)>;

struct Load {
  std::string name;
  uint32_t threads = 1;
  std::function<double(uint32_t thread, double time)> rate;  // bytes per second
  TlabShape tlab;
  Objects objects;
  uint64_t life = 0;  // a thread ends after so many bytes, and the next one takes its place; 0: never
};

// 16 to 512 B at four sites, the last four times larger.
inline std::pair<uint32_t, uint64_t> SmallObjects(uint64_t, double, throttle::Random& random) {
  const uint64_t draw = random.Next();
  const uint32_t site = draw % kSites;
  return {site, (16 + (draw >> 32) % 32 * 16) << (site == 3 ? 2 : 0)};
}

// One in 2,000 is an array of 256 B to 128 MB, evenly over the powers of two: nearly all bytes.
inline std::pair<uint32_t, uint64_t> HeavyTail(uint64_t n, double time, throttle::Random& random) {
  if (random.Next() % 2000 == 0) return {3, uint64_t{256} << (random.Next() % 20)};
  return SmallObjects(n, time, random);
}

// 32, 64, 128 B in turn: 224 B divide a TLAB of 224 KiB, so that refills always meet the same site.
inline std::pair<uint32_t, uint64_t> Loop(uint64_t n, double, throttle::Random&) {
  const uint32_t site = n % 3;
  return {site, uint64_t{32} << site};
}

inline std::vector<Load> Loads() {
  const TlabShape small{}, large{.least = 1 << 20, .most = 2 << 20}, fixed{.least = 224 << 10, .most = 224 << 10};
  const auto steady = [](double rate) { return [rate](uint32_t, double) { return rate; }; };
  return {
      {"steady", 1, steady(50e6), small, SmallObjects},
      {"steady, 1 MB/s", 1, steady(1e6), small, SmallObjects},
      {"burst of 0.1 s in every second", 4,
       [](uint32_t, double t) { return t - std::floor(t) > 0.6 && t - std::floor(t) < 0.7 ? 100e6 : 1e5; }, small,
       SmallObjects},
      {"x100 steps", 4, [](uint32_t, double t) { return static_cast<int>(t / 3) % 2 ? 25e6 : 25e4; }, small,
       SmallObjects},
      {"idle, then 300 threads at once", 300,
       [](uint32_t, double t) { return static_cast<int>(t) % 4 == 3 ? 3e5 : 0.0; }, small, SmallObjects},
      {"loop in step with the TLAB", 1, steady(30e6), fixed, Loop},
      {"1 thread, then 500", 500, [](uint32_t k, double t) { return k == 0 || t > 6 ? 2e5 : 0.0; }, large,
       SmallObjects},
      {"heavy tail", 1, steady(200e6), small, HeavyTail},
      {"threads of 20 kB each", 20, steady(1e6), small, SmallObjects, 20'000},
  };
}

// Lets the load run for `seconds` in steps of 2 ms, threads in turn, then closes the last interval.
inline void Run(const Load& load, double seconds, uint64_t seed, SimulatedRecorder* recorder) {
  constexpr uint64_t kStepNs = 2'000'000;
  struct Thread {
    SimulatedThread* jvm;
    double due = 0;  // bytes
    uint64_t allocations = 0, born = 0;
  };
  std::vector<Thread> threads;
  for (uint32_t k = 0; k < load.threads; ++k) threads.push_back({&recorder->AddThread(load.tlab)});
  throttle::Random random(throttle::Mix64(seed + 77));
  for (uint64_t ns = 0; ns < static_cast<uint64_t>(seconds * 1e9); ns += kStepNs) {
    for (uint32_t k = 0; k < load.threads; ++k) {
      recorder->AdvanceTo(ns + kStepNs * k / load.threads);
      Thread& t = threads[k];
      const double time = static_cast<double>(ns) * 1e-9;
      for (t.due += load.rate(k, time) * static_cast<double>(kStepNs) * 1e-9; t.due > 0;) {
        const auto [site, size] = load.objects(t.allocations++, time, random);
        recorder->Allocate(*t.jvm, site, size);
        t.due -= static_cast<double>(size);
        if (load.life > 0 && t.jvm->allocated() - t.born > load.life) {
          t.jvm->End();
          t.born = t.jvm->allocated();
        }
      }
    }
  }
  recorder->Finish();
}

}  // namespace heaprec::testing
