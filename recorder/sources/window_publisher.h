// The window in force, where every allocating thread can read it and none ever waits for it.
//
// A window is a span of constant probability. It ends when the drain's tick, or the weights of the points that fell
// since, say that lambda should differ by more than throttle::kFallThreshold. Falling is done by whoever notices;
// rising by the drain.
//
// Units:    ns of CLOCK_MONOTONIC; lambda as in throttle/.
// Context:  Read, OnPoint, OnNewStack: alloc. Tick: drain.
// Threads:  any number of readers; publishers take a try-lock, and only the drain waits for it.
// Maths:    docs/sampler.md#windows
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "throttle/byte_clock.h"
#include "throttle/throttle.h"

namespace heaprec::sources {

struct PublishedWindow {
  uint32_t id = 0;
  uint64_t start_ns = 0;
  double lambda = 0;
};

class WindowPublisher {
 public:
  // Windows are numbered from `before` + 1: streams have numbers of their own.
  WindowPublisher(const throttle::ControllerConfig& config, uint64_t start_ns, uint32_t before = 0);

  throttle::ActiveWindow Read() const {
    for (;;) {
      const uint32_t id = current_.load(std::memory_order_acquire);  // pairs with the release in Publish
      const Slot& slot = slots_[id % kSlots];
      const double lambda = slot.lambda.load(std::memory_order_acquire);  // not after the look at the id below
      // A reader that slept through kSlots windows may have read a slot that is being reused.
      if (slot.id.load(std::memory_order_acquire) == id) return {lambda, id};
    }
  }

  // The window in force alone.
  uint32_t window() const { return current_.load(std::memory_order_relaxed); }

  // A point fell. Returns the new window, if one had to begin.
  std::optional<PublishedWindow> OnPoint(throttle::PointSums point, uint64_t now_ns);

  // It has a stack that had to be described.
  void OnNewStack() { fresh_since_.fetch_add(1, std::memory_order_relaxed); }

  // The drain's tick: a new forecast from the counted bytes (or events). Returns the new window, if one had to begin.
  std::optional<PublishedWindow> Tick(uint64_t now_ns, uint64_t total);

  PublishedWindow first() const { return first_; }
  const throttle::ControllerConfig& config() const { return throttle_.config(); }

 private:
  static constexpr uint32_t kSlots = 1024;
  struct Slot {
    std::atomic<uint32_t> id{0};
    std::atomic<double> lambda{0};
  };

  // Both expect publishing_ to be held.
  std::optional<PublishedWindow> PublishIfMoved(uint64_t now_ns, bool may_rise);
  PublishedWindow Publish(double lambda, uint64_t now_ns);
  void SetQuiet(uint64_t now_ns);

  throttle::PointSums Since() const;

  throttle::Throttle throttle_;
  throttle::Forecast forecast_;  // guarded by publishing_
  // The points since forecast_.tick_ns.
  std::atomic<double> weight_since_{0}, effective_since_{0}, count_since_{0}, fresh_since_{0};
  // Lambda need not be looked at before so many effective bytes have come, in the forecast's interval.
  std::atomic<double> quiet_until_{0};
  std::atomic<uint64_t> quiet_until_ns_{0};
  std::atomic_flag publishing_;
  // What every hook reads shares no line with what every point writes.
  alignas(64) std::atomic<uint32_t> current_;
  std::array<Slot, kSlots> slots_{};
  PublishedWindow first_;
};

}  // namespace heaprec::sources
