// Every N-th system call of the agent fails, or a file takes seconds or forever to open: what the application prints
// and how it ends is as without the agent, and a recording, if there is one, is whole and adds up.
//
// Long form: HEAPREC_FAULTS=1, every N from 1 to 60.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

const std::string kFailingCalls = "LD_PRELOAD=" + RunfilePath("tests/support/libfailing_calls.so");

std::vector<std::string> WhereOpeningTakes(int seconds, const std::string& file) {
  return {kFailingCalls, "HEAPREC_SLOW_FILE=" + file, "HEAPREC_SLOW_SECONDS=" + std::to_string(seconds)};
}

bool IsLong() { return std::getenv("HEAPREC_FAULTS") != nullptr; }  // NOLINT(concurrency-mt-unsafe): one thread

}  // namespace

TEST_CASE("The application does not notice failing system calls of the agent") {
  const Java plain{.main = "e2e.Sizes", .args = {"0", "2", "2", "30000", "64", "1000", "70000"}};
  const Outcome expected = Run(plain);
  REQUIRE(expected.exit_code == 0);
  struct Failing {
    int n;
    std::string folder;
    Process process;
  };
  std::vector<Failing> all;
  for (int n = 1; n <= 60; n = IsLong() ? n + 1 : n * 3 + 1) {
    const std::string folder = FreshFolder();
    Java java = plain;
    java.agent_options = "file=" + folder + "/rec.bin,sync=block,loglevel=off";
    Command command = CommandOf(java);
    command.environment = {kFailingCalls, "HEAPREC_FAULT_EVERY=" + std::to_string(n),
                           "HEAPREC_FAULT_LOG=" + folder + "/failed"};
    all.push_back({n, folder, Process(command)});
    constexpr size_t kAtOnce = 4;
    if (all.size() >= kAtOnce) (void)all[all.size() - kAtOnce].process.Wait();
  }
  int recordings = 0;
  for (auto& [n, folder, process] : all) {
    const pid_t pid = process.pid();
    const Outcome outcome = process.Finish();
    INFO("every " << n << ". call; " << outcome.err);
    CHECK(outcome.exit_code == expected.exit_code);
    CHECK(outcome.signal == 0);
    CHECK(outcome.out == expected.out);
    CHECK(outcome.err == expected.err);
    const std::string failed = ReadFile(folder + "/failed");
    CHECK((!failed.empty() && failed != "0"));  // the agent was hit
    RemoveRingsOf(pid);
    if (!FileExists(folder + "/rec.bin") || std::filesystem::file_size(folder + "/rec.bin") == 0) continue;
    const Outcome summary = Heaprec({"summary", folder + "/rec.bin"});
    INFO(summary.out << summary.err);
    if (summary.exit_code == 3) continue;  // the header itself was not written
    ++recordings;
    CHECK(summary.exit_code == 0);
    CHECK(summary.out.find("do not add up") == std::string::npos);
    CHECK(summary.out.find("committed sample") == std::string::npos);
    CHECK(summary.out.find("recorder counters say") == std::string::npos);
  }
  CHECK(recordings >= 1);
}

TEST_CASE("A JVM starts without a recording if the file system does not respond") {
  struct Slow {
    std::string file;
    Process process;
  };
  std::vector<Slow> all;
  const auto begin = std::chrono::steady_clock::now();
  for (const int seconds : {3600, 6}) {
    const std::string file = FreshFolder() + "/slow.bin";
    // From the fifth second to the ninth: the file is created, and removed, while it runs.
    Command command = CommandOf({.main = "e2e.Load", .args = {"2", "4000", "50"}, .agent_options = "file=" + file});
    command.environment = WhereOpeningTakes(seconds, file);
    all.push_back({file, Process(command)});
  }
  for (Slow& slow : all) REQUIRE(slow.process.WaitForOutput("running"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  for (auto& [file, process] : all) {
    const Outcome outcome = process.Finish();
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "running\ndone\n");
    CHECK(outcome.err ==
          "heaprec: not recording: " + file + ": could not be created within 5 s; the file system does not respond\n");
    CHECK(FileExists(file + ".slow"));
    CHECK_FALSE(FileExists(file));
    CHECK(RingsOf(process.pid()).empty());
  }
}

TEST_CASE("A JVM ends in time while a recording's file is being opened, and nothing is recorded afterwards") {
  struct Ending {
    int seconds;
    bool is_delayed;
    std::string file;
    Process process;
    std::optional<Process> attach{};
  };
  std::vector<Ending> all;
  for (const auto& [seconds, is_delayed] : {std::pair(3600, false), {3600, true}, {2, true}}) {
    const std::string file = FreshFolder() + "/slow.bin";
    Java java{.main = "e2e.Load", .args = {"2", "60000", "50"}};
    if (is_delayed) java.agent_options = "file=" + file + ",delay=100ms";
    Command command = CommandOf(java);
    command.environment = WhereOpeningTakes(seconds, file);
    all.push_back({seconds, is_delayed, file, Process(command)});
  }
  for (auto& [seconds, is_delayed, file, process, attach] : all) {
    REQUIRE(process.WaitForOutput("running"));
    if (!is_delayed) {
      attach.emplace(Command{{HeaprecPath(), "attach", std::to_string(process.pid()), "--lib", AgentPath(), "--timeout",
                              "5", "-o", file}});
    }
    REQUIRE(process.WaitForFile(file + ".slow"));
    process.Kill(SIGTERM);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (auto& [seconds, is_delayed, file, process, attach] : all) {
    const Outcome outcome = process.Finish();
    INFO(seconds << " s, " << is_delayed << "; " << outcome.err);
    CHECK(outcome.exit_code == 128 + SIGTERM);
    CHECK(outcome.out == "running\n");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    CHECK_FALSE(FileExists(file));
    RemoveRingsOf(process.pid());
  }
}

namespace {

// Time that does not pass as programs expect it to: a process that stands still, and a time of day that jumps.

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
