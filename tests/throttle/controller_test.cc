#include "throttle/controller.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>

#include "throttle/random.h"
#include "throttle/throttle.h"

namespace heaprec::throttle {
namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;

// Ticks every 50 ms with `rate` bytes per second until `until_ns`, and as many points as lambda says.
Forecast RunSteadily(Controller& controller, double rate, uint64_t until_ns) {
  Forecast forecast;
  for (uint64_t t = 0; t <= until_ns; t += 50 * kMs) {
    const double bytes = t == 0 ? 0 : rate * 0.05, lambda = forecast.Lambda(controller.config(), t, {}).whole;
    forecast = controller.Tick(t, static_cast<uint64_t>(rate * static_cast<double>(t) * 1e-9),
                               {.weight = bytes, .effective = bytes, .count = bytes * lambda});
  }
  return forecast;
}

TEST_CASE("At a steady load lambda is c * cap over the bytes of an interval, at any time in it") {
  Controller controller({}, 0);
  for (uint64_t t : {5'000 * kMs, 5'300 * kMs, 5'950 * kMs}) {
    Controller with_new_stack({}, 0);
    const Forecast forecast = RunSteadily(with_new_stack, 40e6, t);
    CHECK(forecast.Lambda(with_new_stack.config(), t, {}).whole ==
          Approx(1.2 * 150 / 40e6).epsilon(0.01));  // the slow average is young
    CHECK(forecast.interval_end_ns == 6 * kSecond);
  }
}

TEST_CASE("within an interval lambda is c * cap over S plus the time left times r") {
  const ControllerConfig config;
  const Forecast forecast{
      .tick_ns = 200 * kMs, .interval_end_ns = kSecond, .bytes_so_far = 3e6, .rate = 10e6, .slow_rate = 30e6};
  CHECK(forecast.Lambda(config, 200 * kMs, {}).whole == Approx(180 / (3e6 + 0.8 * 10e6)));
  // 150 ms later r has decayed by e, and what fell since counts in S and, spread over the time, in r.
  const double e = std::exp(1.0), since = 2e6;
  const double r = 10e6 / e + since / 0.15 * (1 - 1 / e);
  CHECK(forecast.Lambda(config, 350 * kMs, {.effective = since}).whole == Approx(180 / (3e6 + since + 0.65 * r)));
}

TEST_CASE(
    "within the quiet bytes lambda stays at or above the floor, and a steady load has some points' worth of them") {
  ControllerConfig config;
  config.points = GENERATE(0.0, 100.0, 4000.0);
  Random random(7);
  const auto draw = [&random] { return random.Exponential() * 20e6; };
  for (int i = 0; i < 2000; ++i) {
    const Forecast forecast{.tick_ns = 200 * kMs,
                            .interval_end_ns = kSecond,
                            .bytes_so_far = draw(),
                            .rate = draw(),
                            .slow_rate = draw(),
                            .fast_rate = draw(),
                            .sliding_budget = random.Exponential() * 150,
                            .least_bytes = i % 2 == 0 ? 0 : draw()};
    const double since = draw();
    const Lambdas now = forecast.Lambda(config, 300 * kMs, {.effective = since}), floor{0.9 * now.all, 0.9 * now.whole};
    const double quiet = forecast.BytesUntilRecheck(config, 300 * kMs, {.effective = since}, floor);
    if (quiet == 0) continue;
    for (const uint64_t later : {300 * kMs, 310 * kMs, 500 * kMs, 999 * kMs}) {
      const Lambdas then = forecast.Lambda(config, later, {.effective = since + quiet, .count = 3});
      CHECK(then.whole >= floor.whole * (1 - 1e-9));
      CHECK(then.all >= floor.all * (1 - 1e-9));
      CHECK(then.all >= then.whole);
    }
  }
  const Forecast steady{
      .tick_ns = 200 * kMs, .interval_end_ns = kSecond, .bytes_so_far = 8e6, .rate = 40e6, .slow_rate = 40e6};
  const Lambdas lambda = steady.Lambda(config, 200 * kMs, {}), floor{0.9 * lambda.all, 0.9 * lambda.whole};
  CHECK(steady.BytesUntilRecheck(config, 200 * kMs, {}, floor) * lambda.whole > 2);
  CHECK(steady.BytesUntilRecheck(config, kSecond, {}, floor) == 0);
}

TEST_CASE(
    "a burst at the start of an interval is not taken for the whole of it: the slow rate counts where it is lower") {
  const ControllerConfig config;
  const Forecast forecast{
      .tick_ns = 100 * kMs, .interval_end_ns = kSecond, .bytes_so_far = 100e6, .rate = 500e6, .slow_rate = 120e6};
  CHECK(forecast.Lambda(config, 100 * kMs, {}).whole == Approx(180 / (100e6 + 0.9 * 120e6)));
}

TEST_CASE("The points that are missing in an interval are spread over its remaining bytes") {
  ControllerConfig config;
  config.oversampling = 2;
  Forecast forecast{.tick_ns = 600 * kMs,
                    .interval_end_ns = kSecond,
                    .bytes_so_far = 500e6,
                    .rate = 100e6,
                    .slow_rate = 300e6,
                    .fast_rate = 50e6,
                    .sliding_budget = 45};
  // 1.3 x 150 are wanted, in 0.4 s at the lowest of the three rates.
  CHECK(forecast.Lambda(config, 600 * kMs, {}).whole == Approx((195 - 45) / (0.4 * 50e6)));
  // Each point counts, and its bytes do.
  const double e = std::exp(0.02 / 0.05), fast = 50e6 / e + 1e6 / 0.02 * (1 - 1 / e);
  CHECK(forecast.Lambda(config, 620 * kMs, {.effective = 1e6, .count = 7}).whole ==
        Approx((195 - 45 - 7) / (0.38 * fast)).epsilon(1e-6));
  CHECK(forecast.Lambda(config, 600 * kMs, {.count = 150}).whole == Approx(300 / (500e6 + 0.4 * 100e6)));
  // The last moments are not asked for more than 50 ms would be.
  CHECK(forecast.Lambda(config, 999 * kMs, {}).whole == Approx((195 - 45) / (0.05 * 50e6 * std::exp(-0.399 / 0.05))));
  forecast.sliding_budget = 195;
  CHECK(forecast.Lambda(config, 600 * kMs, {}).whole == Approx(300 / (500e6 + 0.4 * 100e6)));
}

TEST_CASE("The points tell the controller how many are missing") {
  ControllerConfig config;
  config.oversampling = 2;
  Controller controller(config, 0);
  CHECK(controller.Tick(100 * kMs, 1'000'000, {.weight = 1e6, .effective = 1e6, .count = 30}).sliding_budget == 30);
  CHECK(controller.Tick(200 * kMs, 2'000'000, {.weight = 1e6, .effective = 1e6, .count = 30}).sliding_budget == 60);
  CHECK(controller.Tick(1'100 * kMs, 2'000'000).sliding_budget == 0);
}

TEST_CASE("Bytes since the tick never raise lambda, and a burst counts at once") {
  const ControllerConfig config;
  const Forecast forecast{.tick_ns = 0, .interval_end_ns = kSecond, .bytes_so_far = 1e3, .rate = 1e3, .slow_rate = 1e3};
  for (uint64_t now : {uint64_t{0}, uint64_t{1}, 10 * kMs, 999 * kMs, kSecond, 1'500 * kMs, 77 * kSecond}) {
    double last = config.lambda_max;
    for (int k = 0; k < 25; ++k) {
      const double since = k == 0 ? 0 : std::pow(3.0, k);
      const double lambda = forecast.Lambda(config, now, {.effective = since}).whole;
      CHECK(lambda > 0);
      CHECK(lambda <= last);
      last = lambda;
    }
  }
  CHECK(forecast.Lambda(config, 0, {.effective = 15e6}).whole == Approx(180 / (1e3 + 15e6 + 1e3 + 15e6 / 1.0)));
}

// The promise of the header: deterministic, for each point stands for 1 / lambda bytes on average.
TEST_CASE("a step to any rate costs at most c * cap * (1 + ln surprise) points within one tick") {
  const ControllerConfig config;
  const Forecast idle{.tick_ns = 0, .interval_end_ns = kSecond, .bytes_so_far = 0, .rate = 1e6, .slow_rate = 1e6};
  for (double bytes : {1e6, 1e8, 1e10, 1e12}) {
    double since = 0, points = 0;
    while (since < bytes) {
      const double lambda = idle.Lambda(config, 0, {.effective = since}).whole;  // the worst time: nothing has decayed
      since += 1 / lambda;
      ++points;
    }
    CHECK(points <= 180 * (1 + std::log(std::max(1.0, bytes / 1e6))) + 1);
  }
}

TEST_CASE("After a late drain the next intervals continue from the end of the last one") {
  const ControllerConfig config;
  const Forecast forecast{
      .tick_ns = 900 * kMs, .interval_end_ns = kSecond, .bytes_so_far = 50e6, .rate = 50e6, .slow_rate = 50e6};
  const double at_once = forecast.Lambda(config, kSecond, {}).whole;
  CHECK(at_once == Approx(180 / (50e6 * std::exp(-0.1 / 0.15))));  // S = 0, r decayed, a whole interval left
  CHECK(forecast.Lambda(config, 60 * kSecond, {}).whole == config.lambda_max);
  CHECK(forecast.Lambda(config, 60 * kSecond + 500 * kMs, {.effective = 1e9}).whole < 1e-4);
}

TEST_CASE("In an idle application the sampling probability rises to lambda_max") {
  Controller controller({}, 0);
  RunSteadily(controller, 100e6, 2 * kSecond);
  double last = 0;
  for (uint64_t t = 2'250 * kMs; t <= 7 * kSecond; t += 250 * kMs) {
    const double lambda = controller.Tick(t, 200'000'000).Lambda(controller.config(), t, {}).whole;
    CHECK(lambda >= last);
    last = lambda;
  }
  CHECK(last == 1);
}

TEST_CASE("The start expects initial_rate, and corrects it within the first interval") {
  ControllerConfig config;
  config.initial_rate = 50e6;
  Controller controller(config, 7 * kSecond);
  const Forecast first = controller.Tick(7 * kSecond, 0);
  CHECK(first.Lambda(config, 7 * kSecond, {}).whole == Approx(180 / 50e6));
  CHECK(first.interval_end_ns == 8 * kSecond);
  const Forecast later = controller.Tick(7'900 * kMs, 0);
  CHECK(later.Lambda(config, 7'900 * kMs, {}).whole > 100 * 180 / 50e6);
}

TEST_CASE("A tick after several intervals spreads its bytes evenly over them") {
  Controller controller({}, 0);
  controller.Tick(900 * kMs, 0);
  const Forecast forecast = controller.Tick(3'400 * kMs, 25'000'000);
  CHECK(forecast.interval_end_ns == 4 * kSecond);
  CHECK(forecast.bytes_so_far == Approx(0.4 * 10e6));
  CHECK(forecast.rate == Approx(10e6).epsilon(1e-6));
}

TEST_CASE("A tick at the same time, and a clock or total that goes back, change only what is new") {
  Controller controller({}, 1'000);
  const Forecast first = controller.Tick(500 * kMs, 5'000'000);
  const Forecast again = controller.Tick(500 * kMs, 5'000'000);
  CHECK(again.rate == first.rate);
  CHECK(again.bytes_so_far == first.bytes_so_far);
  const Forecast back = controller.Tick(400 * kMs, 4'000'000);
  CHECK(back.tick_ns == 500 * kMs);
  CHECK(back.bytes_so_far == first.bytes_so_far);
  const Forecast impulse = controller.Tick(500 * kMs, 6'000'000);
  CHECK(impulse.bytes_so_far == Approx(6e6));
  CHECK(impulse.rate == Approx(first.rate + 1e6 / 0.15));
}

TEST_CASE("The bytes of an interval do not count in the next one") {
  Controller controller({}, 0);
  CHECK(controller.Tick(999 * kMs, 70'000'000).bytes_so_far == Approx(70e6));
  CHECK(controller.Tick(kSecond, 70'000'000).bytes_so_far == 0);
  CHECK(controller.Tick(1'100 * kMs, 71'000'000).bytes_so_far == Approx(1e6));
}

TEST_CASE("Bytes that cannot give points do not count: lambda rises until there are enough points") {
  Controller controller({}, 0);
  // One object of 1 GB a second and 1,000 of 1 kB: the points say so, whatever lambda is.
  double lambda = 0, in_interval = 0;
  for (uint64_t second = 0; second < 40; ++second) {
    Forecast forecast;
    in_interval = 0;
    for (uint64_t t = 0; t < kSecond; t += 250 * kMs) {
      const uint64_t now = second * kSecond + t;
      const double pi = -std::expm1(-lambda * 1'000), points = 250 * pi;
      PointSums tally;
      in_interval += points + 0.25;
      if (lambda > 0) tally = {.weight = 0.25e9 + 250e3, .effective = (points + 0.25) / lambda, .count = points + 0.25};
      forecast = controller.Tick(now, static_cast<uint64_t>(1.001e9 * static_cast<double>(now) * 1e-9), tally);
      lambda = forecast.Lambda(controller.config(), now, {}).whole;
    }
  }
  // The share of late lags behind, and the end of the interval makes up for it.
  CHECK(in_interval > 0.95 * 180);
  CHECK(in_interval < 1.2 * 180);
}

TEST_CASE("a cap of 0 means no points") {
  ControllerConfig config;
  config.cap = 0;
  Controller controller(config, 0);
  CHECK(controller.Tick(0, 0).Lambda(config, 10 * kMs, {}).whole == 0);
}

TEST_CASE("A rate becomes intervals that never let a second exceed it") {
  for (double rate : {1.0, 2.5, 149.0, 150.0, 999.5, 1'000.0, 7'000.0, 100'000.0}) {
    const ControllerConfig config = ConfigFor(rate, 1'000);
    CAPTURE(rate, config.interval_ns, config.cap);
    CHECK(kSecond % config.interval_ns == 0);
    CHECK(config.cap <= 1'000);
    CHECK(config.cap == std::floor(config.cap));
    const uint64_t parts = kSecond / config.interval_ns;
    const double per_second = config.cap * static_cast<double>(parts);
    CHECK(per_second <= rate);
    CHECK(per_second >= rate * 0.8);
  }
  const ControllerConfig rare = ConfigFor(0.1, 1'000);
  CHECK(rare.cap == 1);
  CHECK(rare.interval_ns == 10 * kSecond);
  CHECK(rare.rate_tau_ns == 1'500 * kMs);
  CHECK(rare.oversampling > 3);  // so that an interval rarely stays empty
  CHECK(ConfigFor(150, 1'000).oversampling == 4);
  CHECK(ConfigFor(450, 1'000).oversampling == 2);
  CHECK(ConfigFor(100'000, 8'000).oversampling == Approx(1.2).epsilon(1e-2));
  CHECK(rare.oversampling_new_stacks == rare.oversampling);  // a few points a second may cost what they like
  CHECK(ConfigFor(25, 1'000).oversampling_new_stacks == 4);
  CHECK(ConfigFor(150, 1'000).oversampling_new_stacks == 1.5);
  CHECK(ConfigFor(100'000, 8'000).oversampling_new_stacks == ConfigFor(100'000, 8'000).oversampling);
}

TEST_CASE("With new stacks fewer points are requested, and their cost stays the same") {
  const ControllerConfig config = ConfigFor(150, 1'000);
  const auto oversampling_at = [&](double with_new_stack, double seconds) {
    Controller controller(config, 0);
    Forecast forecast = controller.Tick(0, 0);
    for (uint64_t t = 20 * kMs; static_cast<double>(t) <= seconds * 1e9; t += 20 * kMs) {
      forecast = controller.Tick(t, t / 20,
                                 {.weight = 1e6, .effective = 1e6, .count = 10, .with_new_stack = 10 * with_new_stack});
    }
    return forecast.oversampling_scale * config.oversampling;
  };
  CHECK(oversampling_at(0, 0) == Approx(1.5));  // at the start all are
  CHECK(oversampling_at(1, 10) == Approx(1.5));
  CHECK(oversampling_at(0, 10) == Approx(4));
  // 450 points of one cost, or 450 / (1 + 5 f) of which the share f costs 6.
  for (const double with_new_stack : {0.1, 0.5, 0.9}) {
    const double more = (oversampling_at(with_new_stack, 10) - 1) * 150;
    CHECK(more * (1 - with_new_stack) + more * with_new_stack * 6 == Approx(450).epsilon(1e-9));
  }
  // Half an interval is remembered.
  Controller controller(config, 0);
  for (uint64_t t = 0; t <= 10 * kSecond; t += 20 * kMs) controller.Tick(t, t / 20, {1e6, 1e6, 10, 10});
  Forecast forecast;
  for (uint64_t t = 10 * kSecond; t <= 10'500 * kMs; t += 20 * kMs)
    forecast = controller.Tick(t, t / 20, {1e6, 1e6, 10});
  const double with_new_stack = std::exp(-1);
  CHECK(forecast.oversampling_scale * 4 ==
        Approx(1 + 1 / ((1 - with_new_stack) / 3 + with_new_stack / 0.5)).epsilon(0.05));
}

TEST_CASE("Intervals are numbered from the start") {
  const Controller controller({}, 500);
  CHECK(controller.IntervalAt(0) == 0);
  CHECK(controller.IntervalAt(500) == 0);
  CHECK(controller.IntervalAt(kSecond + 499) == 0);
  CHECK(controller.IntervalAt(kSecond + 500) == 1);
}

TEST_CASE("Points take one percent of the CPU time of the second before") {
  PointAllowance allowance(/*cost_ns=*/2000, /*least=*/4000, /*most=*/100'000);
  CHECK(allowance.Update(5 * kSecond, 7 * kSecond) == 4000);  // what came before is not known
  CHECK(allowance.Update(6 * kSecond, 10 * kSecond) == Approx(3 * 0.01 * 1e9 / 2000));
  CHECK(allowance.Update(8 * kSecond, 14 * kSecond) == Approx(2 * 0.01 * 1e9 / 2000));
}

TEST_CASE("The allowance has a lower and an upper limit, and the lower one has priority") {
  PointAllowance allowance(2000, 4000, 20'000);
  allowance.Update(kSecond, 0);
  CHECK(allowance.Update(2 * kSecond, 0) == 4000);
  CHECK(allowance.Update(3 * kSecond, 40 * kSecond) == 20'000);
  PointAllowance small(2000, 4000, 1000);
  small.Update(kSecond, 0);
  CHECK(small.Update(2 * kSecond, 10 * kSecond) == 4000);
}

TEST_CASE("Clocks that do not advance do not change the allowance") {
  PointAllowance allowance(2000, 4000, 100'000);
  allowance.Update(kSecond, kSecond);
  const double before = allowance.Update(2 * kSecond, 4 * kSecond);
  CHECK(before == Approx(15'000));
  CHECK(allowance.Update(2 * kSecond, 9 * kSecond) == before);
  CHECK(allowance.Update(3 * kSecond, 2 * kSecond) == before);
  CHECK(allowance.Update(4 * kSecond, 4 * kSecond) == Approx(10'000));
}

// One interval of 1 s in ticks of 20 ms, `points` evenly over those from `begin_ms` to `end_ms`.
void Burst(SlidingBudget& sliding_budget, uint64_t second, uint64_t begin_ms, uint64_t end_ms, double points) {
  const double per_tick = points / static_cast<double>((end_ms - begin_ms) / 20);
  for (uint64_t ms = 20; ms <= 1000; ms += 20) {
    const double count = ms > begin_ms && ms <= end_ms ? per_tick : 0;
    sliding_budget.Add(second * kSecond + ms * kMs - 1, count, count * 1'000);
  }
}

TEST_CASE("Without an interval before, the sliding cap limits the points") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  sliding_budget.Add(100 * kMs, 120, 120);
  CHECK(sliding_budget.sliding_budget() == 120);
  sliding_budget.Add(200 * kMs, 500, 500);
  CHECK(sliding_budget.sliding_budget() == 195);
}

TEST_CASE("After a burst at the end of an interval, an early burst may use the rest of the sliding cap") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 800, 900, 300);
  sliding_budget.Add(kSecond + 100 * kMs, 300, 300'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150));
  // Points of quiet times while the old burst is less than an interval ago do not help, those after it do.
  sliding_budget.Add(kSecond + 700 * kMs, 50, 50'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150));
  sliding_budget.Add(kSecond + 950 * kMs, 50, 50'000);
  CHECK(sliding_budget.sliding_budget() == Approx(195 - 150 + 50));
}

TEST_CASE("A steady interval after a steady one can keep all its points") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 0, 1000, 300);
  for (uint64_t ms = 20; ms < 1000; ms += 20) {
    sliding_budget.Add(kSecond + ms * kMs, 3, 3'000);
    CHECK(sliding_budget.sliding_budget() == Approx(static_cast<double>(ms) / 20 * 3));
  }
}

TEST_CASE("Points of a small interval count as one each, those of a large one by weight") {
  SlidingBudget few(kSecond, 150, 195), many(kSecond, 150, 195);
  Burst(few, 0, 500, 1000, 100);
  few.Add(kSecond + 10 * kMs, 300, 300);
  CHECK(few.sliding_budget() == Approx(195 - 100));
  many.Add(100 * kMs, 1'000, 9'000);  // light points early,
  many.Add(900 * kMs, 10, 1'000);     // a tenth of the weight late
  many.Add(kSecond + 500 * kMs, 0, 0);
  many.Add(kSecond + 600 * kMs, 500, 1'000);
  CHECK(many.sliding_budget() == Approx(195 - 15));
}

TEST_CASE("An interval without the one before it has no sliding limit; a count across the border is divided") {
  SlidingBudget sliding_budget(kSecond, 150, 195);
  Burst(sliding_budget, 0, 900, 1000, 300);
  sliding_budget.Add(5 * kSecond + 500 * kMs, 45, 45);
  CHECK(sliding_budget.sliding_budget() == Approx(45 * 0.5 / 4.5).epsilon(1e-6));
  sliding_budget.Add(5 * kSecond + 600 * kMs, 500, 500);
  CHECK(sliding_budget.sliding_budget() == 195);
}

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
