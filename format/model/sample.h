// The rows of a stream: windows, intervals, samples.
//
// Units:    time in ns since the start of the recording; sizes in bytes.
// Format:   docs/format/recording.md has a section for each.
#pragma once

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

}  // namespace heaprec::format
