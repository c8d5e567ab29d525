// Every N-th system call of the agent fails: what the application prints and how it ends is as without the agent, and a
// recording, if there is one, is whole and adds up.
//
// Long form: HEAPREC_FAULTS=1, every N from 1 to 60.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

bool IsLong() { return std::getenv("HEAPREC_FAULTS") != nullptr; }  // NOLINT(concurrency-mt-unsafe): one thread

}  // namespace

TEST_CASE("Whatever call of the agent fails, the application does not notice") {
  const Java plain{.main = "e2e.Sizes", .args = {"0", "2", "2", "30000", "64", "1000", "70000"}};
  const Outcome expected = Run(plain);
  REQUIRE(expected.exit_code == 0);
  int recordings = 0;
  for (int n = 1; n <= 60; n = IsLong() ? n + 1 : n * 3 + 1) {
    const std::string folder = FreshFolder();
    Java java = plain;
    java.agent_options = "file=" + folder + "/rec.bin,sync=block,loglevel=off";
    Command command = CommandOf(java);
    command.environment = {"LD_PRELOAD=" + RunfilePath("tests/support/libfailing_calls.so"),
                           "HEAPREC_FAULT_EVERY=" + std::to_string(n), "HEAPREC_FAULT_LOG=" + folder + "/failed"};
    Process process(command);
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
    const Outcome summary = Run(Command{{HeaprecPath(), "summary", folder + "/rec.bin"}});
    INFO(summary.out << summary.err);
    if (summary.exit_code == 3) continue;  // the header itself was not written
    ++recordings;
    CHECK(summary.exit_code == 0);
    CHECK(summary.out.find("do not add up") == std::string::npos);
    CHECK(summary.out.find("committed samples are missing") == std::string::npos);
    CHECK(summary.out.find("recorder counters say") == std::string::npos);
  }
  CHECK(recordings >= 1);
}

}  // namespace heaprec::testing
