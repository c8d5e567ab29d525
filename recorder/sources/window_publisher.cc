#include "recorder/sources/window_publisher.h"

#include <sched.h>

#include <algorithm>

namespace heaprec::sources {

using throttle::Lambdas;

namespace {

// Recordings store a float to save space, so the rounded value is also used for sampling. volatile: GCC 12 (-O2) omits
// the conversion of a pair of doubles to floats and back.
double Rounded(double lambda) {
  const volatile float rounded = static_cast<float>(lambda);
  return rounded;
}

Lambdas Rounded(Lambdas lambda) { return {Rounded(lambda.all), Rounded(lambda.whole)}; }

bool AnyBelow(Lambdas lambda, Lambdas other, double part) {
  return lambda.all < other.all * part || lambda.whole < other.whole * part;
}

}  // namespace

WindowPublisher::WindowPublisher(const throttle::ControllerConfig& config, uint64_t start_ns, uint32_t before)
    : throttle_(config, start_ns), current_(before) {
  forecast_ = throttle_.Tick(start_ns, 0);
  first_ = Publish(forecast_.Lambda(config, start_ns, {}), start_ns);
}

std::optional<PublishedWindow> WindowPublisher::OnPoint(throttle::PointSums point, uint64_t now_ns) {
  weight_since_.fetch_add(point.weight, std::memory_order_relaxed);
  const double effective = effective_since_.fetch_add(point.effective, std::memory_order_relaxed) + point.effective;
  if (point.count > 0) count_since_.fetch_add(point.count, std::memory_order_relaxed);
  // Computing Lambda takes a quarter of the time of a point. While the bound is being replaced, a decrease may be
  // delayed by a point or two.
  if (effective < quiet_until_.load(std::memory_order_relaxed) &&
      now_ns < quiet_until_ns_.load(std::memory_order_relaxed)) {
    return std::nullopt;
  }
  // Another thread is publishing: the weight is counted, and the next point or tick will check again.
  if (publishing_.test_and_set(std::memory_order_acquire)) return std::nullopt;
  auto window = PublishIfMoved(now_ns, /*may_rise=*/false);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowPublisher::Tick(uint64_t now_ns, uint64_t total, std::optional<double> points) {
  while (publishing_.test_and_set(std::memory_order_acquire)) sched_yield();
  if (points) throttle_.SetPoints(*points);
  const throttle::PointSums since{
      weight_since_.exchange(0, std::memory_order_relaxed), effective_since_.exchange(0, std::memory_order_relaxed),
      count_since_.exchange(0, std::memory_order_relaxed), new_stacks_since_.exchange(0, std::memory_order_relaxed)};
  forecast_ = throttle_.Tick(now_ns, total, since);
  auto window = PublishIfMoved(now_ns, /*may_rise=*/true);
  publishing_.clear(std::memory_order_release);
  return window;
}

std::optional<PublishedWindow> WindowPublisher::PublishIfMoved(uint64_t now_ns, bool may_rise) {
  const bool literal = may_rise && throttle_.config().rule == throttle::Rule::kWindow;  // publish each P_w unchanged
  const double threshold = literal ? 1 : throttle::kFallThreshold;
  const Lambdas in_force = InForce();
  Lambdas wanted = Rounded(forecast_.Lambda(throttle_.config(), now_ns, Since()));
  if (!may_rise) wanted = {std::min(wanted.all, in_force.all), std::min(wanted.whole, in_force.whole)};
  std::optional<PublishedWindow> window;
  if (AnyBelow(wanted, in_force, threshold) || AnyBelow(in_force, wanted, threshold)) window = Publish(wanted, now_ns);
  SetQuiet(now_ns);
  return window;
}

// Sets the limit up to which no point can decrease lambda by the threshold.
void WindowPublisher::SetQuiet(uint64_t now_ns) {
  const Lambdas in_force = InForce();
  const throttle::PointSums since = Since();
  const double more =
      forecast_.BytesUntilRecheck(throttle_.config(), now_ns, since,
                                  {in_force.all * throttle::kFallThreshold, in_force.whole * throttle::kFallThreshold});
  quiet_until_ns_.store(forecast_.interval_end_ns, std::memory_order_relaxed);
  quiet_until_.store(since.effective + more, std::memory_order_relaxed);
}

throttle::PointSums WindowPublisher::Since() const {
  return {weight_since_.load(std::memory_order_relaxed), effective_since_.load(std::memory_order_relaxed),
          count_since_.load(std::memory_order_relaxed)};
}

Lambdas WindowPublisher::InForce() const {
  const throttle::ActiveWindow now = Read();
  return {now.lambda, now.whole_lambda > 0 ? now.whole_lambda : now.lambda};
}

PublishedWindow WindowPublisher::Publish(Lambdas lambda, uint64_t now_ns) {
  lambda = Rounded(lambda);
  const uint32_t id = current_.load(std::memory_order_relaxed) + 1;
  Slot& slot = slots_[id % kSlots];
  slot.id.store(id, std::memory_order_release);
  slot.lambda.store(lambda.all, std::memory_order_release);
  slot.whole_lambda.store(lambda.whole < lambda.all ? lambda.whole : 0, std::memory_order_release);
  current_.store(id, std::memory_order_release);  // pairs with the acquire in Read
  return {id, now_ns, lambda};
}

}  // namespace heaprec::sources
