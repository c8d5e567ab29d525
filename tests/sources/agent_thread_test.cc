#include "recorder/sources/agent_thread.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <stdexcept>

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
