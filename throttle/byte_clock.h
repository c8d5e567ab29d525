// One thread's Poisson process on its allocated bytes: decides which object contains the next sample point.
//
// Units:    positions and sizes in bytes; lambda in points per byte; e in units of Exp(1).
// Context:  alloc: no heap, no lock, no clock, no exception.
// Threads:  one: the owner. bytes() and candidates() may be read by the drain (relaxed, because they order nothing).
// Failure:  none; points that the JVM dropped are reported as `missed`, with the bytes that they represent.
// Maths:    docs/sampler.md#byte-clock
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "throttle/random.h"

namespace heaprec::throttle {

// Converts `bytes` to double through a signed integer, which takes one instruction; no thread allocates 2^63 bytes.
inline double Length(uint64_t bytes) { return static_cast<double>(static_cast<int64_t>(bytes)); }

// pi(lambda, size) = 1 - exp(-lambda * size): the probability that an object of `size` bytes contains a point.
double InclusionProbability(double lambda, uint64_t size);

// The current window. The caller reads it once per hook, before the hook changes any counter.
// lambda = 0 (recording off, or not started yet) means that there are no points, and the gap is +infinity.
struct ActiveWindow {
  double lambda = 0;  // for all points
  uint32_t window = 0;
  double whole_lambda = 0;  // for whole points, at most lambda: other points are light; 0: all are whole
};

// What a hook must do.
struct HookDecision {
  enum class Action : uint8_t {
    kArm,    // set the JVM's threshold so that the next delivery is `gap` bytes after this position
    kForce,  // this object contains a point: make the JVM deliver it now
  };
  Action action = Action::kArm;
  bool missed = false;      // the JVM dropped an event: a point before this object was not delivered
  double gap = 0;           // bytes from the current position to the next point or a nearer limit; +infinity: no point
  double missed_bytes = 0;  // if missed: an unbiased estimate of the bytes that those points represent
};

// The decision on a delivered object.
struct DeliveryDecision {
  enum class Action : uint8_t {
    kNone,     // no point in this object: set the threshold again
    kKept,     // a whole point, which becomes a sample: weight_bytes and window are set
    kLight,    // a point that is only counted
    kThinned,  // a point, dropped because lambda has decreased since it was armed; weight_bytes is as of then
  };
  Action action = Action::kNone;
  bool missed = false;      // a point before this object was not delivered
  uint32_t window = 0;      // the window whose whole_lambda gave the probability
  double weight_bytes = 0;  // weight_bytes / size is the weight in objects, and size / weight_bytes the probability
  // kKept, kLight: the weight among all points, including light ones.
  double point_weight = 0;
  // kKept, kLight: for the controller (PointSums); 1 / lambda of `window` if all points are whole.
  double effective_bytes = 0;
  double gap = 0;           // as HookDecision::gap
  double missed_bytes = 0;  // as HookDecision::missed_bytes
};

class ByteClock {
 public:
  ByteClock() = default;
  // Call at the first slow path of a thread. `allocated`: all its bytes so far, including the object of `size` bytes,
  // whose hook is called next. A clock may be started again for another thread; its counters continue.
  void Start(uint64_t allocated, uint64_t size, uint64_t seed, ActiveWindow now);
  // The same from an earlier position of the thread, without an object there. `e` > 0: the unit-exponential draw with
  // which the caller has armed the thread: its next point is e / armed.lambda bytes after the position. 0: it is not
  // armed, so the clock draws.
  void StartAt(uint64_t position, double e, uint64_t seed, ActiveWindow armed);
  bool started() const { return e_ > 0; }
  // Limits gaps from now on to this many mean gaps (1 / lambda), so that a thread notices an increase of lambda
  // earlier. An object delivered at such a limit contains no point. +infinity: no limit.
  void SetMaxGap(double mean_gaps) { max_gap_ = mean_gaps; }

  // Fast path for nearly all candidates: the window has not changed since the last update, and there is no point in the
  // object or before it. Returns true if the candidate was counted; `gap` is as in HookDecision. Returns false if
  // nothing was done. A window has one lambda; otherwise as OnRefill and OnOutside.
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

  // Precondition of the next three functions: started(). `allocated` (A in docs/sampler.md) includes the object of
  // `size` bytes that is in its slow path. If the position decreases, another thread uses the same memory: the clock
  // starts again.
  HookDecision OnRefill(uint64_t allocated, uint64_t size, ActiveWindow now);
  HookDecision OnOutside(uint64_t allocated, uint64_t size, ActiveWindow now);
  // Call when the JVM delivers an object: because the hook has just forced it, or because the armed byte was reached.
  DeliveryDecision OnDelivered(uint64_t allocated, uint64_t size, ActiveWindow now);
  // Call when the thread ends or the recording stops: accounts for the remaining bytes. Only the missed points of the
  // decision matter. The clock may be started again.
  HookDecision Finish(uint64_t allocated);
  // Excludes bytes since the last update from the population: they contain no point and are not counted.
  void Exclude(uint64_t bytes) { last_ += bytes; }
  // HookDecision::gap from this position on, without an update.
  double GapFrom(uint64_t allocated) const {
    return std::max(Gap() - Length(allocated - std::min(allocated, last_)), 0.0);
  }
  // Counts bytes that could not contain a point and that no update will count.
  void CountUnsampled(uint64_t bytes) { Add(bytes, 0); }

  // Counted bytes: exactly the sum of A_last - A_start over all threads that used this clock. Never decreases.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Number of calls of OnRefill and OnOutside. Never decreases.
  uint64_t candidates() const { return candidates_.load(std::memory_order_relaxed); }

 private:
  struct DroppedByJvm {
    bool any = false;
    double bytes = 0;
  };
  uint64_t Advance(uint64_t allocated, uint64_t size, ActiveWindow now, DroppedByJvm& missed);
  void CountMissed(uint64_t bytes, DroppedByJvm& missed);
  void DropPending(DroppedByJvm& missed);
  void Force(uint64_t size, ActiveWindow with);
  ActiveWindow Armed() const { return {lambda_, window_, whole_lambda_}; }
  double Arm(ActiveWindow now);
  bool Count(uint64_t allocated, double left, double& gap) {
    Add(allocated - last_, 1);
    last_ = allocated;
    e_ = left;
    gap = Gap();
    return true;
  }
  double Gap() const { return std::min(e_, max_gap_) * mean_gap_; }
  // Only the owner writes, so a plain load and store is sufficient.
  void Add(uint64_t bytes, uint64_t candidates) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    candidates_.store(candidates_.load(std::memory_order_relaxed) + candidates, std::memory_order_relaxed);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double e_ = 0;  // units of Exp(1) left at last_; > 0 once started
  double max_gap_ = kInfinity;
  double lambda_ = 0;            // lambda of this thread since its last update
  double mean_gap_ = kInfinity;  // 1 / lambda_
  uint64_t last_ = 0;            // A at the last update
  double pending_lambda_ = 0;    // > 0: the object that ends at last_ was forced, with this lambda
  double whole_lambda_ = 0, pending_whole_lambda_ = 0;
  std::atomic<uint64_t> bytes_{0}, candidates_{0};
  uint32_t window_ = 0, pending_window_ = 0;
  double e_outside_ = 0;  // as e_, for objects outside of TLABs
  Random random_;
  double pending_weight_ = 0;  // weight of the forced object
};

// The same decision if the JVM itself has drawn the threshold, with mean 1 / drawn.lambda (source=jvmti). Does not set
// gap.
DeliveryDecision DecideJvmtiSample(ActiveWindow drawn, uint64_t size, ActiveWindow now, Random& random);

// For streams whose unit is the event (exceptions): keeps an event with probability now.lambda; its weight in events is
// 1 / now.lambda, at least 1. Returns kNone if it is not kept. Does not set effective_bytes and gap.
DeliveryDecision DecideEvent(ActiveWindow now, Random& random);

}  // namespace heaprec::throttle
