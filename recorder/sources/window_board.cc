#include "recorder/sources/window_board.h"

#include <sched.h>

namespace heaprec::sources {

WindowBoard::WindowBoard(const throttle::ControllerConfig& config, uint64_t start_ns) : controller_(config, start_ns) {
  forecast_ = controller_.Tick(start_ns, 0);
  first_ = Publish(forecast_.Lambda(config, start_ns, 0), start_ns);
}

std::optional<PublishedWindow> WindowBoard::OnPoint(throttle::PointTally point, uint64_t now_ns) {
  weight_since_.fetch_add(point.weight, std::memory_order_relaxed);
  effective_since_.fetch_add(point.effective, std::memory_order_relaxed);
  // Somebody else is publishing: the weight is counted, and the next point or tick will look again.
  if (publishing_.test_and_set(std::memory_order_acquire)) return std::nullopt;
  auto window = PublishIfMoved(now_ns, /*may_rise=*/false);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowBoard::Tick(uint64_t now_ns, uint64_t total) {
  while (publishing_.test_and_set(std::memory_order_acquire)) sched_yield();
  const throttle::PointTally points{weight_since_.exchange(0, std::memory_order_relaxed),
                                    effective_since_.exchange(0, std::memory_order_relaxed)};
  forecast_ = controller_.Tick(now_ns, total, points);
  auto window = PublishIfMoved(now_ns, /*may_rise=*/true);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowBoard::PublishIfMoved(uint64_t now_ns, bool may_rise) {
  const double wanted =
      forecast_.Lambda(controller_.config(), now_ns, effective_since_.load(std::memory_order_relaxed));
  const double in_force =
      slots_[current_.load(std::memory_order_relaxed) % kSlots].lambda.load(std::memory_order_relaxed);
  const bool falls = wanted < in_force * throttle::kFallThreshold;
  const bool rises = may_rise && wanted * throttle::kFallThreshold > in_force;
  if (!falls && !rises) return std::nullopt;
  return Publish(wanted, now_ns);
}

PublishedWindow WindowBoard::Publish(double lambda, uint64_t now_ns) {
  // Rounded to float, which recordings store in half the bytes; what is rounded is what is used.
  lambda = static_cast<float>(lambda);
  const uint32_t id = current_.load(std::memory_order_relaxed) + 1;
  Slot& slot = slots_[id % kSlots];
  slot.id.store(id, std::memory_order_release);
  slot.lambda.store(lambda, std::memory_order_release);
  current_.store(id, std::memory_order_release);  // pairs with the acquire in Read
  return {id, now_ns, lambda};
}

}  // namespace heaprec::sources
