// The rows of a stream: windows, intervals, samples with their weights, and what becomes of tracked ones.
//
// Units:    time in ns since the start of the recording; sizes in bytes.
// Format:   docs/format/recording.md has a section for each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "format/model/stream.h"

namespace heaprec::format {

// A span of constant probability per byte. docs/sampler.md#windows
struct Window {
  uint32_t id = 0;
  uint64_t start_ns = 0;
  // sample points per byte, only of points that may become samples (exceptions: probability per event)
  double lambda = 0;
  // Points per byte including light points, which are counted in rows only; 0: there are no light points.
  double point_lambda = 0;
  bool operator==(const Window&) const = default;
};

// What one throttle interval received and kept. docs/sampler.md#second-stage
struct Interval {
  uint64_t index = 0;       // [index, index+1) * interval_ns
  uint64_t candidates = 0;  // slow-path allocations, or events, counted
  uint64_t bytes = 0;       // bytes allocated, as counted by the byte clocks; 0 for events
  uint64_t buffered = 0;    // points that stage 1 put into the ring, including light ones
  uint64_t kept = 0;        // how many of these were written as samples
  double tau = 0;           // weights below this were raised to it (0: all were kept)
  Stream stream = Stream::kAllocations;
  bool operator==(const Interval&) const = default;
};

struct Sample {
  uint64_t id = 0;  // unique in the recording
  uint64_t time_ns = 0;
  Kind kind = Kind::kTlab;
  Index thread = kNone, class_id = kNone, stack = kNone;
  uint64_t size = 0;       // bytes of the object or block; 0 for an exception
  uint64_t tlab_size = 0;  // TLAB size of the thread; 0: outside TLABs
  uint32_t window = 0;     // id of the window whose lambda gave the first-stage probability
  double weight = 0;       // what this sample represents, in the unit of its stream (bytes, events); unbiased

  Stream stream() const { return StreamOf(kind); }
  double weight_bytes() const { return CountsEvents(stream()) ? 0 : weight; }
  // The weight in objects or events.
  double weight_objects() const {
    if (CountsEvents(stream())) return weight;
    return size > 0 ? weight / static_cast<double>(size) : 0;
  }
  // The probability that both stages include the object or event.
  double probability() const {
    const double own = CountsEvents(stream()) ? 1 : static_cast<double>(size);
    return weight > 0 ? own / weight : 0;
  }
  bool operator==(const Sample&) const = default;
};

// The end of tracking of sampled objects (option live).
//
// Every sample of the allocation stream is tracked from its birth, up to `max_tracked_objects` at a time (FileHeader).
// A LifecycleEvent says when and how tracking ended. A tracked sample without a lifecycle event so far is live.
//
// Weight:   live bytes at time t are estimated from the tracked samples alone. Each represents the larger of its weight
//           and the highest threshold of the kEvicted events from its birth to t (priority sampling;
//           docs/streams.md#live-objects).
// Units:    time in ns since the start of the recording.
// Format:   docs/format/recording.md#lifecycle-events

enum class LifecycleKind : uint8_t {
  kDied = 0,       // found dead by a collection
  kEvicted = 1,    // removed at random to keep the limit: its death is unknown, and others carry its weight
  kUntracked = 2,  // never tracked: the table was full; others of its interval carry its weight
  kShrunk = 3      // a part of it was unmapped: tracking continues, and a sample may have several of these
};
inline constexpr int kLifecycleKinds = 4;

struct LifecycleEvent {
  uint64_t sample = 0;  // id of the sample
  // kDied: time of the first check after the collection that found the object dead. kEvicted: end of the interval whose
  // samples needed the entries; it affects only samples born earlier.
  uint64_t time_ns = 0;
  LifecycleKind kind = LifecycleKind::kDied;
  // Collections completed when the object was last seen live. Minus the collections completed at its birth: those that
  // it survived.
  uint64_t collections = 0;
  double threshold = 0;                  // kEvicted: the priority of the evicted sample; otherwise 0
  Stream stream = Stream::kAllocations;  // stream of the sample
  uint64_t left = 0;                     // kShrunk: its remaining bytes; otherwise 0
  bool operator==(const LifecycleEvent&) const = default;
};

// A sample of an earlier chunk that is live when a chunk begins, so that each chunk alone has all live samples.
struct CheckpointSample {
  Sample sample;             // its indices refer to the chunk that contains it
  double threshold = 0;      // highest of the kEvicted lifecycle events since its birth; 0: none
  uint64_t collections = 0;  // completed at its birth
  uint64_t gone = 0;         // bytes removed by kShrunk events since its birth

  uint64_t left() const { return sample.size - gone; }
};

// The weight of a sample, recomputed from its window: recordings do not store it per sample.
//
// Units:    weights in bytes or events, sizes in bytes; lambda in sample points per byte, or a probability (kCount).
// Maths:    docs/format/recording.md#weights, docs/sampler.md#weights

enum class WeightRule : uint8_t {
  kPerByte = 0,   // size / (1 - exp(-lambda size))
  kCount = 1,     // 1 / lambda: in events
  kExplicit = 2,  // stored as it is
};
inline constexpr int kWeightRules = 3;

// Largest accepted relative difference between a stored and a recomputed weight.
inline constexpr double kWeightTolerance = 1e-9;

// pi = 1 - exp(-x). Below the limit the series' remainder, x^4 / 120, is less than 1e-14: four terms cost a tenth
// of expm1.
inline double PoissonInclusion(double x) {
  constexpr double kSeriesLimit = 1e-3;
  if (x < kSeriesLimit) return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
  return -std::expm1(-x);
}

inline double FirstStageWeight(WeightRule rule, double lambda, uint64_t size) {
  if (rule == WeightRule::kCount) return 1 / lambda;
  return static_cast<double>(size) / PoissonInclusion(lambda * static_cast<double>(size));
}

// A NaN never agrees.
inline bool WeightsAgree(double given, double recomputed) {
  return std::abs(recomputed - given) <= kWeightTolerance * std::abs(given);
}

}  // namespace heaprec::format
