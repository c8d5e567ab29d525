// Files within bounds, in a real JVM: read, dumped and tracked while they are replaced.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "tests/support/java_run.h"

namespace heaprec::testing {
TEST_CASE("A JVM with maxage=10s can be dumped at any time, and its file is never older") {
  const std::string folder = FreshFolder();
  const std::string recording = folder + "/rec.bin";
  Process java(CommandOf(
      {.main = "e2e.Load", .args = {"2", "60000", "200"}, .agent_options = "file=" + recording + ",maxage=10s"}));
  REQUIRE(java.WaitForFile(recording));
  for (int second = 0; second < 15; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::string dump = folder + "/dump" + std::to_string(second);
    const Outcome outcome = Run(Command{{HeaprecPath(), "dump", "-q", "-o", dump, std::to_string(java.pid())}});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    const Outcome print = Run(Command{{HeaprecPath(), "summary", dump}});
    INFO(print.out);
    CHECK(print.exit_code == 0);
    CHECK(print.out.find("trustworthy: no") == std::string::npos);
    const Outcome verify = Run(Command{{HeaprecPath(), "verify", dump}});
    INFO(verify.out << verify.err);
    CHECK(verify.exit_code == 0);
  }
  java.Kill(SIGKILL);
  (void)java.Finish();
  const Outcome summary = Run(Command{{HeaprecPath(), "summary", recording}});
  INFO(summary.out);
  CHECK(summary.exit_code == 0);
  CHECK(summary.out.find("trustworthy: no") == std::string::npos);
  RemoveRingsOf(java.pid());
}

}  // namespace heaprec::testing
