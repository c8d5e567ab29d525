// The allocation entries use no heap, no lock and no I/O: the agent linked with alloc_guard.cc aborts at the first use.
#include <signal.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

std::string GuardedAgent() { return RunfilePath("tests/e2e/safety/libheaprec_guarded.so"); }

void RequireQuietGuard(const std::vector<std::string>& flags, const std::string& main,
                       const std::vector<std::string>& args, const std::string& options) {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Java{.flags = flags,
                                   .main = main,
                                   .args = args,
                                   .agent_options = "file=" + recording + "," + options,
                                   .agent = GuardedAgent()});
  INFO(outcome.err);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.find("alloc_guard") == std::string::npos);
  CHECK(!ReadRows(recording).rows.empty());
}

}  // namespace

TEST_CASE("Guard: using the heap in an entry point aborts the JVM and is named") {
  Command command = CommandOf({.flags = {"-XX:-CreateCoredumpOnCrash"},
                               .main = "e2e.Load",
                               .args = {"2", "300", "0"},
                               .agent_options = "file=" + FreshFolder() + "/rec.bin,rate=150",
                               .agent = GuardedAgent()});
  command.environment = {"HEAPREC_GUARD_BITES=1"};
  Process process(command);
  const pid_t pid = process.pid();
  const Outcome outcome = process.Finish();
  RemoveRingsOf(pid);
  CHECK(outcome.signal == SIGABRT);
  CHECK(outcome.err.find("alloc_guard: called by an allocation entry: malloc") != std::string::npos);
}

TEST_CASE("Under heavy load the entry points use no heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Load", {"8", "1500", "0"}, "rate=5000");
}

TEST_CASE("New stacks, classes and methods are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Chains", {"1000"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Kinds", {"1000"}, "rate=5000");
}

TEST_CASE("New threads are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Churn", {"1500", "21504"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Sizes", {"16", "64", "4", "50", "48", "1000", "20000"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Threads", {"200"}, "rate=5000");
}

TEST_CASE("Thrown exceptions are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Throws", {"4", "20000", "0"}, "rate=150,exceptions=on,exceptions.rate=5000");
}

TEST_CASE("Without TLABs every allocation calls an entry point, and none uses heap, lock or I/O") {
  RequireQuietGuard({"-XX:-UseTLAB"}, "e2e.Load", {"2", "800", "0"}, "rate=1000");
}

TEST_CASE("A full ring blocks no entry point") { RequireQuietGuard({}, "e2e.Load", {"8", "1500", "0"}, "rate=200000"); }

TEST_CASE("The JVMTI source's entry points use no heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Load", {"4", "800", "0"}, "rate=5000,source=jvmti");
}

}  // namespace heaprec::testing
