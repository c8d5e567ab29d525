#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "recorder/sources/agent_thread.h"
#include "recorder/sources/log.h"
#include "recorder/sources/part.h"
#include "recorder/sources/window_publisher.h"

namespace heaprec::sources {
namespace {

constexpr std::chrono::hours kLong{1};
constexpr std::chrono::milliseconds kShort{1};

}  // namespace

TEST_CASE("The thread runs until it is stopped, and has ended when Stop returns") {
  std::atomic<int> turns{0};
  std::promise<void> three;
  bool has_ended = false;
  StoppableThread thread("test", [&] {
    while (!thread.SleepOrStop(kShort)) {
      if (++turns == 3) three.set_value();
    }
    has_ended = true;
  });
  REQUIRE(thread.Start().ok());
  three.get_future().wait();
  CHECK_FALSE(thread.TryJoin());
  thread.Stop();
  CHECK(has_ended);
}

TEST_CASE("Stop interrupts a pause") {
  std::promise<bool> rested;
  StoppableThread thread("test", [&] { rested.set_value(thread.SleepOrStop(kLong)); });
  REQUIRE(thread.Start().ok());
  thread.Stop();
  CHECK(rested.get_future().get());
}

TEST_CASE("A body that throws has ended, and a thread that ends by itself can be joined") {
  for (const bool throws : {true, false}) {
    StoppableThread thread("test", [throws] {
      if (throws) throw std::runtime_error("no memory");
    });
    REQUIRE(thread.Start().ok());
    thread.Stop();
    while (!thread.TryJoin()) {
    }
    CHECK(thread.TryJoin());
  }
}

TEST_CASE("A thread that was never started has ended") {
  StoppableThread thread("test", [] {});
  CHECK(thread.TryJoin());
  thread.Stop();
}

}  // namespace heaprec::sources

namespace heaprec {

// What the agent prints and replies.

TEST_CASE("The agent prints numbers of samples like the command") {
  CHECK(SampleCount(0) == "0 samples");
  CHECK(SampleCount(1) == "1 sample");
  CHECK(SampleCount(999) == "999 samples");
  CHECK(SampleCount(1125) == "1,125 samples");
  CHECK(SampleCount(1'234'567) == "1,234,567 samples");
}

}  // namespace heaprec

namespace heaprec::sources {

namespace {

// Notes what it hears, behind its name.
class Noted final : public Part {
 public:
  Noted(std::string name, std::string* heard, bool fails = false)
      : name_(std::move(name)), heard_(*heard), fails_(fails) {}
  void Connect(writer::DrainCallbacks*) override { heard_ += name_ + "connect "; }
  Status Activate() override {
    heard_ += name_ + "activate ";
    if (fails_) return Error{"no thread"};
    return {};
  }
  void OnTick(uint64_t now_ns) override { heard_ += name_ + "tick" + std::to_string(now_ns) + " "; }
  void NewEpoch() override { heard_ += name_ + "chunk "; }
  void MarkStackEmitted(const format::StackKey& key) override {
    heard_ += name_ + "stack" + std::to_string(key.low) + " ";
  }
  void Stop() override { heard_ += name_ + "stop "; }
  bool TryJoin() override { return has_left; }

  bool has_left = true;

 private:
  const std::string name_;
  std::string& heard_;
  const bool fails_;
};

}  // namespace

TEST_CASE("All parts are told about the recording, in their order") {
  std::string heard;
  Parts parts;
  parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard));
  writer::DrainCallbacks callbacks;
  parts.Connect(&callbacks);
  CHECK(parts.Activate().ok());
  parts.OnTick(7);
  callbacks.on_new_chunk();
  callbacks.on_stack({3, 0});
  parts.Stop();
  CHECK(heard ==
        "a.connect b.connect a.activate b.activate a.tick7 b.tick7 a.chunk b.chunk a.stack3 b.stack3 a.stop b.stop ");
}

TEST_CASE("If a part cannot begin, no later one does") {
  std::string heard;
  Parts parts;
  parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard, /*fails=*/true));
  parts.Add(std::make_unique<Noted>("c.", &heard));
  const auto active = parts.Activate();
  REQUIRE_FALSE(active.ok());
  CHECK(active.error().message == "no thread");
  CHECK(heard == "a.activate b.activate ");
}

TEST_CASE("The parts have ended when each of them has") {
  std::string heard;
  Parts parts;
  CHECK(parts.TryJoin());
  Noted& first = parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard));
  CHECK(parts.TryJoin());
  first.has_left = false;
  CHECK_FALSE(parts.TryJoin());
}

namespace {

constexpr uint64_t kMs = 1'000'000;

throttle::ControllerConfig Config() {
  throttle::ControllerConfig config;
  config.cap = 150;
  return config;
}

}  // namespace

TEST_CASE("A steady load soon has one window, and the ids of windows increase by one") {
  WindowPublisher board(Config(), 0);
  uint32_t last = board.first().id;
  int after_a_second = 0;
  double due = 0;  // points
  for (uint64_t tick = 1; tick <= 500; ++tick) {
    std::vector<std::optional<PublishedWindow>> windows = {board.Tick(tick * 20 * kMs, tick * 2'000'000)};  // 100 MB/s
    const double lambda = board.Read().lambda;
    for (due += lambda * 2e6; due > 1; --due)
      windows.push_back(board.OnPoint({1 / lambda, 1 / lambda, 1}, tick * 20 * kMs));
    for (const auto& window : windows) {
      if (!window) continue;
      CHECK(window->id == last + 1);
      last = window->id;
      after_a_second += tick > 50;
    }
  }
  CHECK(after_a_second <= 20);
  // 150 x surplus points per 100 MB.
  CHECK(board.Read().lambda == Approx(150 * Config().oversampling / 100e6).epsilon(0.15));
}

TEST_CASE("Points with new stacks are fewer") {
  const throttle::ControllerConfig config = throttle::ConfigFor(150, 5000);
  for (const bool are_new : {false, true}) {
    WindowPublisher board(config, 0);
    double due = 0;  // points
    for (uint64_t tick = 1; tick <= 500; ++tick) {
      board.Tick(tick * 20 * kMs, tick * 2'000'000);  // 100 MB/s
      const double lambda = board.Read().lambda;
      for (due += lambda * 2e6; due > 1; --due) {
        board.OnPoint({1 / lambda, 1 / lambda, 1}, tick * 20 * kMs);
        if (are_new) board.OnNewStack();
      }
    }
    CHECK(board.Read().lambda == Approx(150 * (are_new ? 1.5 : 4) / 100e6).epsilon(0.15));
  }
}

TEST_CASE("Points lower lambda between two ticks, and never raise it") {
  WindowPublisher board(Config(), 0);
  for (uint64_t tick = 1; tick <= 100; ++tick) board.Tick(tick * 20 * kMs, tick * 20'000);  // 1 MB/s
  double lambda = board.Read().lambda;
  const double quiet = lambda;
  int windows = 0;
  // A burst: every point stands for 1/lambda bytes, and no tick comes by.
  for (int i = 0; i < 1000; ++i) {
    const auto window = board.OnPoint({1 / lambda, 1 / lambda, 1}, 2000 * kMs + 1);
    CHECK(board.Read().lambda <= lambda);
    lambda = board.Read().lambda;
    windows += window.has_value();
  }
  CHECK(windows > 10);
  CHECK(lambda < quiet / 30);
}

TEST_CASE("Points that do not update lambda give the same windows as if each did") {
  throttle::ControllerConfig config = throttle::ConfigFor(150, 5000);
  config.points = GENERATE(0.0, 4000.0);
  WindowPublisher board(config, 0);
  throttle::Throttle throttle(config, 0);
  throttle::Forecast forecast = throttle.Tick(0, 0);
  double total = 0, due = 0;
  throttle::Lambdas in_force = board.first().lambda;
  throttle::PointSums since;
  uint32_t differences = 0, windows = 0, points = 0;
  for (uint64_t tick = 1; tick <= 500; ++tick) {
    const bool burst = tick % 70 < 9;  // 50 MB/s, and 5 GB/s now and then
    uint64_t now = (tick - 1) * 20 * kMs;
    for (int step = 0; step < 200; ++step) {
      now += 100'000;
      total += burst ? 500'000 : 5'000;
      for (due += in_force.all * (burst ? 500'000 : 5'000); due > 1; --due) {
        // One of some is whole.
        const throttle::PointSums point{1 / in_force.all, 1 / in_force.all,
                                        std::fmod(++points, std::ceil(in_force.all / in_force.whole)) == 0 ? 1.0 : 0.0};
        since.weight += point.weight, since.effective += point.effective, since.count += point.count;
        const auto window = board.OnPoint(point, now);
        const throttle::Lambdas wanted = forecast.Lambda(config, now, since);
        const bool falls = static_cast<float>(wanted.all) < in_force.all * throttle::kFallThreshold ||
                           static_cast<float>(wanted.whole) < in_force.whole * throttle::kFallThreshold;
        differences += falls != window.has_value();
        if (falls) {
          in_force = {std::min<double>(static_cast<float>(wanted.all), in_force.all),
                      std::min<double>(static_cast<float>(wanted.whole), in_force.whole)};
          ++windows;
        }
        const throttle::ActiveWindow active = board.Read();
        differences += active.lambda != in_force.all;
        differences += active.whole_lambda != (in_force.whole < in_force.all ? in_force.whole : 0);
      }
    }
    board.Tick(now, static_cast<uint64_t>(total));
    forecast = throttle.Tick(now, static_cast<uint64_t>(total), since);
    since = {};
    const throttle::ActiveWindow active = board.Read();
    in_force = {active.lambda, active.whole_lambda > 0 ? active.whole_lambda : active.lambda};
  }
  CHECK(differences == 0);
  CHECK(windows > 50);
  CHECK(points > 2000);
}

TEST_CASE("A tick may change the number of points, but not of whole points") {
  throttle::ControllerConfig config = throttle::ConfigFor(150, 5000);
  config.points = 4000;
  WindowPublisher board(config, 0);
  uint64_t tick = 0;
  const auto next = [&](std::optional<double> points = {}) {
    ++tick;
    board.Tick(tick * 100 * kMs, tick * 100'000'000, points);
    return board.Read();
  };
  while (tick < 100) next();
  const throttle::ActiveWindow before = board.Read(), after = next(8000);
  CHECK(after.lambda == Approx(2 * before.lambda).epsilon(0.11));
  CHECK(after.whole_lambda == Approx(before.whole_lambda).epsilon(0.11));
  CHECK(next().lambda == Approx(2 * before.lambda).epsilon(0.11));  // it stays
  CHECK(next(4000).lambda == Approx(before.lambda).epsilon(0.11));
}

TEST_CASE("A window is found by its id until its slot is used again") {
  throttle::ControllerConfig config = throttle::ConfigFor(150, 5000);
  config.points = 4000;
  WindowPublisher board(config, 0);
  uint64_t total = 0, tick = 0;
  const auto next = [&] {
    total += ++tick % 2 == 0 ? 100 : 50'000'000;
    board.Tick(tick * 500 * kMs, total);
  };
  while (board.Read().whole_lambda == 0 && tick < 10) next();
  const throttle::ActiveWindow first = board.Read();
  CHECK(first.whole_lambda > 0);
  CHECK(first.whole_lambda < first.lambda);
  while (board.window() < first.window + 1023) next();
  CHECK(board.Find(first.window).whole_lambda == first.whole_lambda);
  CHECK(board.Find(board.window()).lambda == board.Read().lambda);
  next();
  REQUIRE(board.window() >= first.window + 1024);
  CHECK(board.Find(first.window).whole_lambda == 0);
}

TEST_CASE("A reader always gets the lambda of the id it gets") {
  // lambda is made a function of the id by a driver that publishes through one thread; readers check the pair.
  WindowPublisher board(Config(), 0);
  std::vector<std::atomic<double>> published(1 << 16);
  published[board.first().id].store(board.first().lambda.all);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, checked{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      while (!stop.load()) {
        const throttle::ActiveWindow now = board.Read();
        double expected = 0;
        // The driver stores the expectation just after it published.
        while ((expected = published[now.window].load()) == 0 && !stop.load()) std::this_thread::yield();
        if (expected != 0 && expected != now.lambda) wrong.fetch_add(1);
        checked.fetch_add(1);
      }
    });
  }
  uint64_t total = 0;
  uint32_t windows = 0;
  for (uint64_t tick = 1; windows < 20'000; ++tick) {
    total += tick % 2 == 0 ? 100 : 50'000'000;
    const auto window = board.Tick(tick * 500 * kMs, total);
    if (!window) continue;
    ++windows;
    published[window->id].store(window->lambda.all);
  }
  while (checked.load() < 1000) std::this_thread::yield();
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong.load() == 0);
}

}  // namespace heaprec::sources
