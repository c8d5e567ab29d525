// Bytes counted by a recording against what the JVM itself counts for the same threads over the same time
// (com.sun.management.ThreadMXBean): equal within 0.1 %. No statistics: both are exact, but for what starting and
// stopping allocates itself (some 250 kB of 800 MB).
//
// Statistic: bytes missed, asked of the hooks alone. Most threads were there before, each with a TLAB in use, and have
// been
//            armed inside it. A point of the last window stands for 0.3 % of the bytes; the hooks miss 0.001 % of them
//            (docs/sampler.md#jvmti), so that four such points, 1 %, are a false alarm of probability 1e-11. Without
//            hooks the JVM misses what it likes, outside objects above all: a few points or, as a CI run had it, eight
//            (2.2 %). Their number has no bound to ask for; that each is counted is asked where shares and sums are
//            judged.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr double kTolerance = 0.001;

std::vector<double> NumbersOf(const std::string& text) {
  std::istringstream lines(text);
  std::vector<double> numbers;
  for (double number; lines >> number;) numbers.push_back(number);
  return numbers;
}

void RequireTotal(const nlohmann::json& summary, double truth) {
  INFO(summary.dump());
  CHECK(summary["allocated_bytes"].get<double>() == Approx(truth).epsilon(kTolerance));
  if (summary["recording"]["source"] != "hooks") return;
  CHECK(summary["losses"]["lost"]["missed"]["bytes"].get<double>() < 0.01 * truth);
}

// Two recordings in one JVM, started and stopped from outside.
void RequireTotalsOfAttached(const std::vector<std::string>& flags, const std::string& source,
                             const std::vector<std::string>& launcher = {}) {
  const std::string folder = FreshFolder();
  const auto options = [&](const std::string& name) { return "file=" + folder + "/" + name + source; };
  Java java{.flags = flags, .main = "e2e.Totals", .args = {"200", AgentPath(), options("1.bin"), options("2.bin")}};
  java.flags.insert(java.flags.end(), {"-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading"});
  Command command = CommandOf(java);
  command.args.insert(command.args.begin(), launcher.begin(), launcher.end());
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::vector<double> truth = NumbersOf(outcome.out);
  REQUIRE(truth.size() == 2);
  RequireTotal(ReadSummary(folder + "/1.bin"), truth[0]);
  RequireTotal(ReadSummary(folder + "/2.bin"), truth[1]);
}

}  // namespace

TEST_CASE("A recording from the start of the JVM counts the same bytes as the JVM") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Java{.main = "e2e.Totals", .args = {"600"}, .agent_options = "file=" + recording});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  RequireTotal(ReadSummary(recording), NumbersOf(outcome.out).at(0));
}

TEST_CASE("Recordings of a running JVM count the same bytes as the JVM, with G1") {
  RequireTotalsOfAttached({"-XX:+UseG1GC", "-Xmx512m"}, "");
}

TEST_CASE("Recordings of a running JVM count the same bytes as the JVM, with Parallel") {
  RequireTotalsOfAttached({"-XX:+UseParallelGC", "-Xmx512m"}, "");
}

TEST_CASE("Recordings of a running JVM count the same bytes as the JVM, with ZGC") {
  RequireTotalsOfAttached({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", "-Xmx1g"}, "");
}

TEST_CASE("Recordings of a running JVM count the same bytes as the JVM, without hooks") {
  RequireTotalsOfAttached({"-XX:+UseG1GC", "-Xmx512m"}, ",source=jvmti");
}

TEST_CASE("Totals are exact on a kernel that refuses process_vm_readv") {
  RequireTotalsOfAttached({"-XX:+UseG1GC", "-Xmx512m"}, "", {RunfilePath("tests/support/refuse"), "process_vm_readv"});
}

}  // namespace heaprec::testing
