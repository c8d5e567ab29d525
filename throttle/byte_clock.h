// One thread's Poisson process on the bytes it allocates: decides which object holds the next sample point.
//
// Units:    positions and sizes in bytes; lambda in points per byte; e in units of Exp(1).
// Context:  alloc: no heap, no lock, no clock, no exception.
// Threads:  one: the owner. bytes() and candidates() may be read by the drain (relaxed: they are statistics, they order
//           nothing).
// Failure:  none; points the JVM dropped come back as `missed`, with the bytes they stood for.
// Maths:    docs/sampler.md#byte-clock
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "throttle/random.h"

namespace heaprec::throttle {

// As a double. The conversion of signed integers is one instruction; no thread allocates 2^63 bytes.
inline double Length(uint64_t bytes) { return static_cast<double>(static_cast<int64_t>(bytes)); }

// pi(lambda, size) = 1 - exp(-lambda * size): the chance that an object of `size` bytes holds a point.
double InclusionProbability(double lambda, uint64_t size);

// The window in force, as the caller read it, once per hook and before the hit changes any counter.
// lambda = 0 (recording off, not yet started) means: no points at all, and a gap of +infinity.
struct ActiveWindow {
  double lambda = 0;
  uint32_t window = 0;
};

// What a hook has to do.
struct HookDecision {
  enum class Action : uint8_t {
    kArm,    // let the next delivery be `gap` bytes from here
    kForce,  // this very object holds a point: make the JVM deliver it now
  };
  Action action = Action::kArm;
  bool missed = false;      // the JVM dropped an event: a point passed unseen before this object
  double gap = 0;           // bytes from the current position to the next point or nearer; +infinity: no point
  double missed_bytes = 0;  // missed: an unbiased estimate of the bytes that the unseen points stood for
};

// What a delivered object turned out to be.
struct DeliveryDecision {
  enum class Verdict : uint8_t {
    kNone,     // no point in this object: re-arm only
    kKept,     // a sample: weight_bytes and window are set
    kThinned,  // a point, given up because lambda has fallen since it was armed; weight_bytes as it was armed
  };
  Verdict verdict = Verdict::kNone;
  bool missed = false;         // a point passed unseen before this object
  uint32_t window = 0;         // the window whose lambda gave the probability
  double weight_bytes = 0;     // weight_bytes / size is the weight in objects; size / weight_bytes the probability
  double effective_bytes = 0;  // kKept: 1 / lambda of `window`, what the point tells the controller (PointSums)
  double gap = 0;              // as HookDecision::gap
  double missed_bytes = 0;     // as HookDecision::missed_bytes
};

class ByteClock {
 public:
  ByteClock() = default;
  // First slow path of a thread: `allocated` counts all its bytes so far, the object of `size` included. The hook of
  // that same object follows. A clock may be started again for another thread: its counters go on.
  void Start(uint64_t allocated, uint64_t size, uint64_t seed, ActiveWindow now);
  // The same from a position that the thread had before, with no object there: the next point lies e / armed.lambda
  // bytes after it, where the thread has been armed by someone else; e = 0: it has not, draw one.
  void StartAt(uint64_t position, double e, uint64_t seed, ActiveWindow armed);
  bool started() const { return e_ > 0; }
  // From now on gaps are cut to this many mean gaps, 1 / lambda each: a thread that meets a rise of lambda late learns
  // of it the sooner. An object delivered there holds no point. +infinity: never.
  void SetMaxGap(double mean_gaps) { reach_ = mean_gaps; }

  // What nearly every candidate is: the window is that of the last touch, and no point lies in the object or before it.
  // True: it is counted, and `gap` is what HookDecision::gap would be. False: nothing was done.
  // A window has one lambda; else as OnRefill and OnOutside.
  bool TrySkipRefill(uint64_t allocated, uint32_t window, double& gap) {
    const double left = e_ - lambda_ * Length(allocated - last_);
    if (window != window_ || allocated < last_ || pending_lambda_ > 0 || !(left > 0)) return false;
    return Count(allocated, left, gap);
  }
  bool TrySkipOutside(uint64_t allocated, uint64_t size, uint32_t window, double& gap) {
    const uint64_t passed = allocated - last_;
    const double left = e_ - lambda_ * Length(passed - std::min(passed, size));
    const double left_outside = e_outside_ - lambda_ * Length(size);
    if (window != window_ || allocated < last_ || pending_lambda_ > 0 || !(left > 0) || !(left_outside > 0))
      return false;
    e_outside_ = left_outside;
    return Count(allocated, left, gap);
  }

  // Preconditions of the next three: started(). `allocated` (A in docs/sampler.md) includes the object of `size` whose
  // slow path this is. A position that goes back means another thread in the same memory: the clock starts over.
  HookDecision OnRefill(uint64_t allocated, uint64_t size, ActiveWindow now);
  HookDecision OnOutside(uint64_t allocated, uint64_t size, ActiveWindow now);
  // The JVM delivers an object: forced by a touch just before, or because the armed byte was reached.
  DeliveryDecision OnDelivered(uint64_t allocated, uint64_t size, ActiveWindow now);
  // The thread ends or the recording stops: accounts for the rest; the clock may be started again. There is nothing to
  // do but to count what was missed.
  HookDecision Finish(uint64_t allocated);
  // Bytes since the last touch that are no part of the population: no point falls in them, nothing counts them.
  void Exclude(uint64_t bytes) { last_ += bytes; }
  // HookDecision::gap from here on, where nothing has been touched since the last touch.
  double GapFrom(uint64_t allocated) const {
    return std::max(Gap() - Length(allocated - std::min(allocated, last_)), 0.0);
  }
  // Bytes that had no chance to hold a point, and that no touch will count.
  void CountUnsampled(uint64_t bytes) { Add(bytes, 0); }

  // Bytes accounted for: the sum of A_last - A_start over all threads that used this clock, exactly. Never falls.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Calls of OnRefill and OnOutside. Never falls.
  uint64_t candidates() const { return candidates_.load(std::memory_order_relaxed); }

 private:
  struct DroppedByJvm {
    bool any = false;
    double bytes = 0;
  };
  uint64_t Advance(uint64_t allocated, uint64_t size, ActiveWindow now, DroppedByJvm& missed);
  void Pass(uint64_t bytes, DroppedByJvm& missed);
  void DropPending(DroppedByJvm& missed);
  void Force(uint64_t size, ActiveWindow with);
  double Arm(ActiveWindow now);
  bool Count(uint64_t allocated, double left, double& gap) {
    Add(allocated - last_, 1);
    last_ = allocated;
    e_ = left;
    gap = Gap();
    return true;
  }
  double Gap() const { return std::min(e_, reach_) * mean_gap_; }
  // The owner alone writes: a plain load and store, no locked instruction.
  void Add(uint64_t bytes, uint64_t candidates) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    candidates_.store(candidates_.load(std::memory_order_relaxed) + candidates, std::memory_order_relaxed);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double e_ = 0;  // units of Exp(1) left at last_; > 0 once started
  double reach_ = kInfinity;
  double lambda_ = 0;            // in force on this thread since its last touch
  double mean_gap_ = kInfinity;  // 1 / lambda_
  uint64_t last_ = 0;            // A at the last touch
  double pending_lambda_ = 0;    // > 0: the object that ends at last_ was forced, with this lambda
  std::atomic<uint64_t> bytes_{0}, candidates_{0};
  uint32_t window_ = 0, pending_window_ = 0;
  double e_outside_ = 0;  // the same for objects outside of TLABs
  Random random_;
  double pending_weight_ = 0;  // of the object forced
};

// The same judgement where the JVM itself drew the threshold, with mean 1 / lambda_drawn (source=jvmti). gap is not
// set.
DeliveryDecision DecideJvmtiSample(double lambda_drawn, uint32_t window_drawn, uint64_t size, ActiveWindow now,
                                   Random& random);

// The unit is the event (source=tlab): kept with `probability`, under now.window, standing for represented /
// probability bytes; effective_bytes is 1 / probability, in events. kNone if not kept, and always when now.lambda = 0.
// gap is not set.
DeliveryDecision DecideEvent(double probability, uint64_t represented_bytes, ActiveWindow now, Random& random);

}  // namespace heaprec::throttle
