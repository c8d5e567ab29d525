// Time that does not pass as programs expect it to: a process that stands still, and a time of day that jumps.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

void RequireWhole(const Rows& rows) {
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  REQUIRE(!rows.rows.empty());
  const auto by_time = [](const Row& a, const Row& b) { return a.time_ns < b.time_ns; };
  CHECK(std::is_sorted(rows.rows.begin(), rows.rows.end(), by_time));
  CHECK(rows.rows.back().time_ns <= rows.summary["duration_ns"].get<uint64_t>());
  const auto counts = rows.PerInterval();
  CHECK(*std::max_element(counts.begin(), counts.end()) <= rows.cap());
}

}  // namespace

TEST_CASE("A process that is stopped for seconds has a complete recording") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Process jvm(CommandOf(
      Java{.main = "e2e.Load", .args = {"2", "3000", "0"}, .agent_options = "file=" + recording + ",rate=150"}));
  REQUIRE(jvm.WaitForOutput("running"));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  jvm.Kill(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  jvm.Kill(SIGCONT);
  const Outcome outcome = jvm.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  RequireWhole(ReadRows(recording));
}

TEST_CASE("A jump of the wall clock moves no sample") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Command command = CommandOf(
      Java{.main = "e2e.Load", .args = {"2", "2500", "0"}, .agent_options = "file=" + recording + ",rate=150"});
  command.environment.push_back("LD_PRELOAD=" + RunfilePath("tests/support/libjumping_clock.so"));
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = Run(command);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const Rows rows = ReadRows(recording);
  RequireWhole(rows);
  CHECK(rows.summary["duration_ns"].get<uint64_t>() <= static_cast<uint64_t>(took.count()));
}

}  // namespace heaprec::testing
