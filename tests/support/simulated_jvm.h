// A thread of HotSpot as the byte clock sees it: TLABs, slow paths, an armed byte, events that get lost.
//
// An object that would pass the armed byte or the end of the TLAB takes the slow path. There it may fit after all, go
// outside, or refill; a hook sees the last two; then the JVM delivers it if it was forced or has passed the armed byte.
//
// Units:    bytes.   Threads: one.
#pragma once

#include <cstdint>

#include "throttle/byte_clock.h"
#include "throttle/random.h"

namespace heaprec::testing {

// What a thread's hooks and callback talk to: the recorder's side.
class Recorder {
 public:
  virtual throttle::ActiveWindow Now() = 0;
  // A point was found in an object: kept or thinned, never kNone.
  virtual void OnPoint(uint32_t site, uint64_t size, const throttle::DeliveryDecision& decision) = 0;
  virtual void OnMissed(double bytes) { (void)bytes; }

 protected:
  ~Recorder() = default;
};

struct TlabShape {
  uint64_t least = 16 << 10, most = 256 << 10;  // capacity: uniform between
  double waste = 1.0 / 64;                      // objects above this share of the TLAB go outside rather than retire it
  double dropped = 0;                           // share of the deliveries that the JVM loses
  double reach = 1;                             // the caller arms this share of the gap: it may arm nearer
  uint64_t own_interval = 16 << 10;             // the JVM's own arm after a lost event
};

class SimulatedThread {
 public:
  SimulatedThread(uint64_t seed, const TlabShape& shape, Recorder* recorder, uint32_t number = 0)
      : random_(throttle::Mix64(seed + 1)), seed_(seed), shape_(shape), recorder_(recorder), number_(number) {}

  // `size` is a multiple of 8.
  void Allocate(uint32_t site, uint64_t size) {
    if (size <= tlab_left_ && static_cast<double>(allocated_ + size) <= armed_) {
      tlab_left_ -= size;
      allocated_ += size;
      return;
    }
    SlowPath(site, size);
  }
  // The thread ends; the next allocation is that of a new thread in the same memory, whose count begins at 0.
  void End() {
    Stop();
    past_ += allocated_;
    allocated_ = tlab_left_ = 0;
  }

  // The recording ends while the thread goes on.
  void Stop() {
    const throttle::HookDecision last = clock_.Finish(allocated_);
    if (last.missed) recorder_->OnMissed(last.missed_bytes);
  }

  uint32_t number() const { return number_; }
  const throttle::ByteClock& clock() const { return clock_; }
  // True bytes, of all threads that lived here.
  uint64_t allocated() const { return past_ + allocated_; }

 private:
  void SlowPath(uint32_t site, uint64_t size) {
    const bool fits = size <= tlab_left_;
    const bool outside =
        !fits && static_cast<double>(size) > static_cast<double>(capacity_) * shape_.waste && capacity_ > 0;
    allocated_ += size;
    bool forced = false;
    if (fits) {
      tlab_left_ -= size;
    } else if (outside || size > shape_.most) {
      forced = OnHook(size, /*outside=*/true);
    } else {
      capacity_ = size + shape_.least + random_.Next() % (shape_.most - shape_.least + 1);
      tlab_left_ = capacity_ - size;
      forced = OnHook(size, /*outside=*/false);
    }
    if (forced || static_cast<double>(allocated_) > armed_) Deliver(site, size);
  }
  bool OnHook(uint64_t size, bool outside) {
    const throttle::ActiveWindow now = recorder_->Now();
    if (!clock_.started()) clock_.Start(allocated_, size, ++seed_, now);
    const throttle::HookDecision decision =
        outside ? clock_.OnOutside(allocated_, size, now) : clock_.OnRefill(allocated_, size, now);
    if (decision.missed) recorder_->OnMissed(decision.missed_bytes);
    Arm(decision.gap);
    return decision.action == throttle::HookDecision::Action::kForce;
  }
  void Deliver(uint32_t site, uint64_t size) {
    if (shape_.dropped > 0 && random_.Uniform() < shape_.dropped) {
      Arm(static_cast<double>(shape_.own_interval) * random_.Exponential());
      return;
    }
    const throttle::DeliveryDecision decision = clock_.OnDelivered(allocated_, size, recorder_->Now());
    if (decision.missed) recorder_->OnMissed(decision.missed_bytes);
    Arm(decision.gap);
    if (decision.action != throttle::DeliveryDecision::Action::kNone) recorder_->OnPoint(site, size, decision);
  }
  // As the agent writes it: whole words, rounded down.
  void Arm(double gap) {
    gap *= shape_.reach;
    armed_ =
        static_cast<double>(allocated_) + (gap < 1e15 ? static_cast<double>(static_cast<uint64_t>(gap) & ~7ull) : 1e15);
  }

  throttle::ByteClock clock_;
  throttle::Random random_;
  uint64_t seed_;
  TlabShape shape_;
  Recorder* recorder_;
  uint32_t number_;
  uint64_t past_ = 0, allocated_ = 0, tlab_left_ = 0, capacity_ = 0;
  double armed_ = 0;
};

}  // namespace heaprec::testing
