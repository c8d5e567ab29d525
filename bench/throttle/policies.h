// Throttles behind one interface, each offered the same arrivals: the two of this library, and others as their
// descriptions have them.
//
// Units:    time in ns from 0; weights in bytes.
// Threads:  one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heaprec::bench {

struct Arrival {
  uint64_t time_ns = 0;
  uint32_t site = 0;
  double bytes = 0;
  double position = 0;  // in the policy's window, 0 to 1
};

struct Kept {
  Arrival arrival;
  double weight = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // In order of time. What is kept comes out at once, or when its interval is over.
  virtual void Offer(const Arrival& arrival, std::vector<Kept>* kept) = 0;
  virtual void Finish(std::vector<Kept>* kept) { (void)kept; }
  // Constant probability lasts so long: where biases show.
  virtual uint64_t window_ns() const = 0;
  // When the window at hand has begun.
  virtual uint64_t WindowBegin(uint64_t now_ns) const { return now_ns - now_ns % window_ns(); }
};

// falling, window: throttle::Throttle and throttle::IntervalReducer. jfr: windows of 200 ms, one geometric interval
// drawn for each from an average of 25 windows' populations, a hard stop at the budget, debt carried over at most four
// windows. bucket: the first `rate` of a second. pid: points at random in the bytes, their mean distance set once a
// second by a PID controller of the logarithm, its integral clamped.
std::unique_ptr<Policy> MakePolicy(const std::string& name, double rate, uint64_t seed);

}  // namespace heaprec::bench
