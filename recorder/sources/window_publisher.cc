#include "recorder/sources/window_publisher.h"

#include <sched.h>

namespace heaprec::sources {

WindowPublisher::WindowPublisher(const throttle::ControllerConfig& config, uint64_t start_ns, uint32_t before)
    : throttle_(config, start_ns), current_(before) {
  forecast_ = throttle_.Tick(start_ns, 0);
  first_ = Publish(forecast_.Lambda(config, start_ns, {}), start_ns);
}

std::optional<PublishedWindow> WindowPublisher::OnPoint(throttle::PointSums point, uint64_t now_ns) {
  weight_since_.fetch_add(point.weight, std::memory_order_relaxed);
  const double effective = effective_since_.fetch_add(point.effective, std::memory_order_relaxed) + point.effective;
  count_since_.fetch_add(1, std::memory_order_relaxed);
  // Lambda is a quarter of what a point costs. A bound that is just being replaced delays a fall by a point or two.
  if (effective < quiet_until_.load(std::memory_order_relaxed) &&
      now_ns < quiet_until_ns_.load(std::memory_order_relaxed)) {
    return std::nullopt;
  }
  // Somebody else is publishing: the weight is counted, and the next point or tick will look again.
  if (publishing_.test_and_set(std::memory_order_acquire)) return std::nullopt;
  auto window = PublishIfMoved(now_ns, /*may_rise=*/false);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowPublisher::Tick(uint64_t now_ns, uint64_t total) {
  while (publishing_.test_and_set(std::memory_order_acquire)) sched_yield();
  const throttle::PointSums points{
      weight_since_.exchange(0, std::memory_order_relaxed), effective_since_.exchange(0, std::memory_order_relaxed),
      count_since_.exchange(0, std::memory_order_relaxed), new_stacks_since_.exchange(0, std::memory_order_relaxed)};
  forecast_ = throttle_.Tick(now_ns, total, points);
  auto window = PublishIfMoved(now_ns, /*may_rise=*/true);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowPublisher::PublishIfMoved(uint64_t now_ns, bool may_rise) {
  const bool literal = may_rise && throttle_.config().rule == throttle::Rule::kWindow;  // every P_w, as it is
  const double threshold = literal ? 1 : throttle::kFallThreshold;
  const double wanted = static_cast<float>(forecast_.Lambda(throttle_.config(), now_ns, Since()));
  const double in_force =
      slots_[current_.load(std::memory_order_relaxed) % kSlots].lambda.load(std::memory_order_relaxed);
  const bool falls = wanted < in_force * threshold;
  const bool rises = may_rise && wanted * threshold > in_force;
  std::optional<PublishedWindow> window;
  if (falls || rises) window = Publish(wanted, now_ns);
  SetQuiet(now_ns);
  return window;
}

// Until when no point can make lambda fall by the threshold.
void WindowPublisher::SetQuiet(uint64_t now_ns) {
  const double in_force =
      slots_[current_.load(std::memory_order_relaxed) % kSlots].lambda.load(std::memory_order_relaxed);
  const throttle::PointSums since = Since();
  const double more =
      forecast_.BytesUntilRecheck(throttle_.config(), now_ns, since, in_force * throttle::kFallThreshold);
  quiet_until_ns_.store(forecast_.interval_end_ns, std::memory_order_relaxed);
  quiet_until_.store(since.effective + more, std::memory_order_relaxed);
}

throttle::PointSums WindowPublisher::Since() const {
  return {weight_since_.load(std::memory_order_relaxed), effective_since_.load(std::memory_order_relaxed),
          count_since_.load(std::memory_order_relaxed)};
}

PublishedWindow WindowPublisher::Publish(double lambda, uint64_t now_ns) {
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
