#include <catch2/catch.hpp>
#include <cmath>

#include "throttle/throttle.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;

ControllerConfig Config() {
  ControllerConfig config;
  config.rule = Rule::kWindow;
  config.cap = 150;
  config.oversampling = 1.2;
  return config;
}

double LambdaAfter(WindowController& controller, uint64_t t, uint64_t total, PointSums points = {}) {
  return controller.Tick(t, total, points).Lambda(controller.config(), t, {}).whole;
}

TEST_CASE("At a steady load lambda is a fifth of c * cap over the bytes of 200 ms") {
  WindowController controller(Config(), 0);
  double lambda = 0;
  for (uint64_t t = 0; t <= 10 * kSecond; t += 20 * kMs)
    lambda = LambdaAfter(controller, t, t / 10, {.count = t == 0 ? 0.0 : 3.6});  // 100 MB/s
  CHECK(lambda == Approx(36 / 20e6).epsilon(1e-6));
}

TEST_CASE("P_w does not change before the window is over, for any load up to the guard") {
  WindowController controller(Config(), 0);
  const double first = LambdaAfter(controller, 0, 0);
  CHECK(LambdaAfter(controller, 199 * kMs, 1'000'000'000) == first);
  CHECK(LambdaAfter(controller, 200 * kMs, 1'000'000'000) < first / 100);
}

TEST_CASE("What a window did not use is added to the next one, what it used too much is subtracted") {
  for (const double points : {0.0, 20.0, 36.0, 50.0}) {
    WindowController controller(Config(), 0);
    controller.Tick(0, 0);
    const double lambda = LambdaAfter(controller, 200 * kMs, 200'000, {.count = points});
    CHECK(lambda == Approx((36 + (36 - points)) / 200'000));  // 1 MB/s, as the start expects
  }
}

TEST_CASE("the budget ends with its second") {
  WindowController controller(Config(), 0);
  controller.Tick(0, 0);
  for (uint64_t t = 200; t < 1000; t += 200) controller.Tick(t * kMs, t * 1'000);
  CHECK(LambdaAfter(controller, 900 * kMs, 900'000) == Approx(5 * 36 / 200'000.0));
  CHECK(LambdaAfter(controller, kSecond, 1'000'000) == Approx(36 / 200'000.0));
}

TEST_CASE("The forecast is the mean of the windows, each with two thirds of the weight of the next one") {
  WindowController controller(Config(), 0);
  controller.Tick(0, 0);
  CHECK(LambdaAfter(controller, 200 * kMs, 800'000, {.count = 36}) == Approx(36 / (200'000 + 600'000 / 3.0)));
  CHECK(LambdaAfter(controller, 400 * kMs, 800'000, {.count = 36}) == Approx(36 / (400'000 * 2 / 3.0)));
}

TEST_CASE("A tick that is several windows late treats them as equal") {
  WindowController late(Config(), 0), punctual(Config(), 0);
  late.Tick(0, 0);
  punctual.Tick(0, 0);
  for (uint64_t t = 200; t < 1000; t += 200) punctual.Tick(t * kMs, t * 5'000, {.count = 10});
  const double expected = LambdaAfter(punctual, kSecond, 5'000'000, {.count = 10});
  CHECK(LambdaAfter(late, kSecond, 5'000'000, {.count = 50}) == Approx(expected));
}

TEST_CASE("Overspending leaves a tenth of the target, never nothing") {
  WindowController controller(Config(), 0);
  controller.Tick(0, 0);
  CHECK(LambdaAfter(controller, 200 * kMs, 200'000, {.count = 5'000}) == Approx(3.6 / 200'000));
}

TEST_CASE(
    "an idle application that wakes up costs the guard and the logarithm of what is beyond it, not every object") {
  WindowController controller(Config(), 0);
  for (uint64_t t = 0; t <= 60 * kSecond; t += 20 * kMs) controller.Tick(t, 0);
  const Forecast idle = controller.Tick(60 * kSecond, 0);
  CHECK(idle.Lambda(controller.config(), 60 * kSecond, {}).whole == 1);
  double since = 0, points = 0;
  while (since < 1e9) {
    since += 1 / idle.Lambda(controller.config(), 60 * kSecond, {.effective = since}).whole;
    ++points;
  }
  const double guard = 8 * 36;
  CHECK(points <= (guard + 1) * (1 + std::log(1e9 / guard)));
}

TEST_CASE("the configuration chooses the rule") {
  Throttle literal(Config(), 0), falling({}, 0);
  const auto lambda = [](Throttle& throttle, uint64_t t, uint64_t total) {
    return throttle.Tick(t, total).Lambda(throttle.config(), t, {}).whole;
  };
  const double literal_before = lambda(literal, 0, 0), falling_before = lambda(falling, 0, 0);
  CHECK(lambda(literal, 100 * kMs, 50'000'000) == literal_before);
  CHECK(lambda(falling, 100 * kMs, 50'000'000) < falling_before / 10);
}

}  // namespace
}  // namespace heaprec::throttle
