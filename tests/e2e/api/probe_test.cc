// heaprec.Probe: object for object what a thread allocates, against programs whose objects are known.
//
// HEAPREC_PROGRAMS=1000: how many random programs under each collector.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

std::string Programs() {
  const char* const value = getenv("HEAPREC_PROGRAMS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? value : "100";
}

void RequireExact(std::vector<std::string> flags) {
  INFO(flags.front());
  flags.emplace_back("-Xmx256m");
  const Outcome outcome =
      Run(Java{.flags = flags, .main = "e2e.Probed", .args = {Programs(), AgentPath(), "programs alone"}});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.ends_with("failures 0\n"));
}

}  // namespace

TEST_CASE("A probe lists every object of its thread in order: changes of TLABs, outside objects, collections") {
  RequireExact({"-XX:+UseG1GC"});
  RequireExact({"-XX:+UseSerialGC"});
  RequireExact({"-XX:+UseParallelGC"});
  RequireExact({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"});
  RequireExact({"-XX:+UseShenandoahGC"});
  RequireExact({"-Xint"});
  RequireExact({"-XX:-UseCompressedClassPointers", "-XX:-UseCompressedOops"});
  RequireExact({"-Xcheck:jni"});
}

TEST_CASE("A probe shows what escape analysis removes, and a wrong assertion fails") {
  const Outcome outcome = Run(Java{.main = "e2e.Probed", .args = {"1", AgentPath()}});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("boxing interpreted 24000 compiled 0\n") != std::string::npos);
  CHECK(outcome.out.ends_with("allocated 120 B in 1 objects: 1 byte[] (120 B), not 0 B\n"));
}

TEST_CASE("Probes and a recording do not disturb each other") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.main = "e2e.Probed",
                                   .args = {Programs(), "-", "programs alone"},
                                   .agent_options = "file=" + folder + "/rec.bin,duration=1s"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.ends_with("failures 0\n"));
  const Outcome summary = Run(Command{{HeaprecPath(), "summary", folder + "/rec.bin"}});
  INFO(summary.out);
  CHECK(summary.out.find("trustworthy: no") == std::string::npos);
}

TEST_CASE("A probe that ran out of memory is not whole; one with many objects counts all") {
  const Outcome outcome = Run(Java{.flags = {"-Xmx24m", "-Xint", "-XX:+UseSerialGC"},
                                   .main = "e2e.ProbedFull",
                                   .agent_options = "file=" + FreshFolder() + "/rec.bin"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        "held true failures 1 whole false\nnext whole true\n"
        "12000000 B in 100000 objects; the first 65536: 65536 byte[] (7864320 B)\nlisted 65536 whole false\n");
}

TEST_CASE("Without the agent, creating a probe fails with a message") {
  const Outcome outcome = Run(Java{.main = "e2e.Probed", .args = {"1"}});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err.find("heaprec: cannot load the agent: there is no libheaprec.so for ") != std::string::npos);
}

}  // namespace heaprec::testing
