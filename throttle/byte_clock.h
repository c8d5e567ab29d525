// One thread's Poisson process on the bytes it allocates: decides which object holds the next sample point.
//
// Units:    positions and sizes in bytes; lambda in points per byte; e in units of Exp(1).
// Context:  alloc: no heap, no lock, no clock, no exception.
// Threads:  one: the owner. (bytes() may be read by the drain: a relaxed atomic.)
// Failure:  none; points the JVM dropped are counted by the caller from Outcome.
// Maths:    docs/sampler.md#byte-clock
#pragma once

#include <atomic>
#include <cstdint>

#include "throttle/random.h"

namespace heaprec::throttle {

// pi(lambda, size) = 1 - exp(-lambda * size): the chance that an object of `size` bytes holds a point.
double InclusionProbability(double lambda, uint64_t size);

// The window in force, as the caller read it, once per hook and before the hit changes any counter.
struct LambdaInForce {
  double lambda = 0;
  uint32_t window = 0;
};

// What a hook has to do.
struct Touch {
  enum class Action : uint8_t {
    kArm,    // let the next point fall `gap` bytes from here
    kForce,  // this very object holds a point: make the JVM deliver it now
  };
  Action action = Action::kArm;
  double gap = 0;           // bytes from the current position to the next point; may be beyond any TLAB
  bool missed = false;      // the JVM dropped an event: a point passed unseen before this object
};

// What a delivered object turned out to be.
struct Hit {
  enum class Verdict : uint8_t {
    kNone,     // no point in this object: re-arm only
    kKept,     // a sample: weight_bytes and window are set
    kThinned,  // a point, given up because lambda has fallen since it was armed; weight_bytes is what it would have stood for
  };
  Verdict verdict = Verdict::kNone;
  bool missed = false;  // a point passed unseen before this object
  double weight_bytes = 0;
  uint32_t window = 0;  // the window whose lambda gave the probability
  double gap = 0;       // arm the next point this far from here
};

class ByteClock {
 public:
  ByteClock() = default;
  // First slow path of a thread: `allocated` counts all its bytes so far, the object of `size` included.
  void Start(uint64_t allocated, uint64_t size, uint64_t seed, LambdaInForce now);
  bool started() const { return started_; }

  // `allocated` (A in docs/sampler.md) includes the object of `size` whose slow path this is.
  Touch OnRefill(uint64_t allocated, uint64_t size, LambdaInForce now);
  Touch OnOutside(uint64_t allocated, uint64_t size, LambdaInForce now);
  // The JVM delivers an object: forced by a touch just before, or because the armed byte was reached.
  Hit OnDelivered(uint64_t allocated, uint64_t size, LambdaInForce now);
  // The thread ends or the recording stops: account for the rest.
  void Finish(uint64_t allocated);

  // Bytes accounted for since Start.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t candidates() const { return candidates_.load(std::memory_order_relaxed); }

 private:
  // (state: see byte_clock.cc)
  Random random_;
  double e_ = 0;
  double lambda_ = 0;
  uint64_t last_ = 0;  // a_last: A at the last touch
  std::atomic<uint64_t> bytes_{0}, candidates_{0};
  double pending_lambda_ = 0;  // > 0: forced with this lambda
  uint32_t window_ = 0, pending_window_ = 0;
  bool started_ = false;
};

}  // namespace heaprec::throttle
