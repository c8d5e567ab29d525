// Publishes the current window to all allocating threads, which never wait for it.
//
// A window is a span of constant probability. It ends when the drain's tick, or the weights of the points since the
// tick, show that one of its lambdas should change by more than throttle::kFallThreshold. Any thread may lower them;
// only the drain raises them.
//
// Units:    ns of CLOCK_MONOTONIC; lambda as in throttle/.
// Context:  Read, OnPoint, OnNewStack: alloc. Tick: drain.
// Threads:  any number of readers; publishers use a try-lock, and only the drain waits for it.
// Maths:    docs/sampler.md#windows
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "format/ring/ring_records.h"
#include "throttle/byte_clock.h"
#include "throttle/throttle.h"

namespace heaprec::sources {

struct PublishedWindow {
  uint32_t id = 0;
  uint64_t start_ns = 0;
  throttle::Lambdas lambda;
};
inline format::WindowRecord RecordOf(const PublishedWindow& window) {
  const double points = window.lambda.whole < window.lambda.all ? window.lambda.all : 0;
  return {{}, window.start_ns, window.lambda.whole, points, window.id, 0};
}

class WindowPublisher {
 public:
  // Windows are numbered from `before` + 1, because each stream has its own range of numbers.
  WindowPublisher(const throttle::ControllerConfig& config, uint64_t start_ns, uint32_t before = 0);

  throttle::ActiveWindow Read() const {
    for (;;) {
      const uint32_t id = current_.load(std::memory_order_acquire);  // pairs with the release in Publish
      const Slot& slot = slots_[id % kSlots];
      const throttle::ActiveWindow now = slot.Read(id);  // read before the id is read again below
      // A reader that was descheduled for kSlots windows may have read a reused slot.
      if (slot.id.load(std::memory_order_acquire) == id) return now;
    }
  }
  // Returns one of the last kSlots windows; for an older one whole_lambda is 0.
  throttle::ActiveWindow Find(uint32_t id) const {
    const Slot& slot = slots_[id % kSlots];
    const throttle::ActiveWindow found = slot.Read(id);
    return slot.id.load(std::memory_order_acquire) == id ? found : throttle::ActiveWindow{0, id};
  }

  // Id of the current window.
  uint32_t window() const { return current_.load(std::memory_order_relaxed); }

  // Prefetches what OnPoint needs.
  void Prefetch() const { __builtin_prefetch(&weight_since_, 1); }

  // Adds a point, with its sums. Returns the new window, if one begins.
  std::optional<PublishedWindow> OnPoint(throttle::PointSums point, uint64_t now_ns);

  // Call if the point's stack is new and had to be written.
  void OnNewStack() { new_stacks_since_.fetch_add(1, std::memory_order_relaxed); }

  // Call at each tick of the drain: makes a new forecast from the counted bytes (or events). `points`: P from now on;
  // nullopt: unchanged. Returns the new window, if one begins.
  std::optional<PublishedWindow> Tick(uint64_t now_ns, uint64_t total, std::optional<double> points = {});

  PublishedWindow first() const { return first_; }
  const throttle::ControllerConfig& config() const { return throttle_.config(); }

 private:
  static constexpr uint32_t kSlots = 1024;
  struct Slot {
    std::atomic<uint32_t> id{0};
    std::atomic<double> lambda{0}, whole_lambda{0};
    throttle::ActiveWindow Read(uint32_t id) const {
      return {lambda.load(std::memory_order_acquire), id, whole_lambda.load(std::memory_order_acquire)};
    }
  };

  // Both require publishing_ to be held.
  std::optional<PublishedWindow> PublishIfMoved(uint64_t now_ns, bool may_rise);
  PublishedWindow Publish(throttle::Lambdas lambda, uint64_t now_ns);
  throttle::Lambdas InForce() const;
  void SetQuiet(uint64_t now_ns);

  throttle::PointSums Since() const;

  throttle::Throttle throttle_;  // guarded by publishing_, except for constants
  throttle::Forecast forecast_;  // guarded by publishing_
  // Sums over the points since forecast_.tick_ns. Everything that a point accesses here, unless it publishes, is in one
  // cache line.
  alignas(64) std::atomic<double> weight_since_{0}, effective_since_{0}, count_since_{0}, new_stacks_since_{0};
  // Effective bytes until Lambda must be computed again, within the forecast's interval.
  std::atomic<double> quiet_until_{0};
  std::atomic<uint64_t> quiet_until_ns_{0};
  std::atomic_flag publishing_;
  // Read by every hook, so it is not in the cache line that every point writes.
  alignas(64) std::atomic<uint32_t> current_;
  std::array<Slot, kSlots> slots_{};
  PublishedWindow first_;
};

}  // namespace heaprec::sources
