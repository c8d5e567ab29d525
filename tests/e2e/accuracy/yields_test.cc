// Virtual threads that yield: what the JVM copies their stacks into is counted apart, and charged to nobody. The truth
// is the program's own, and what a census counts object by object.
//
// Statistic: estimates of classes against the truth, by intervals widened from 1.96 to 5.5 standard errors: beyond with
//            probability 4e-8 each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

constexpr char kSmall[] = "e2e.Counted$Small";

// Objects made; 0: this JDK has no virtual threads.
double RunYields(const std::string& recording, const std::string& options, const std::vector<std::string>& flags) {
  Java java{.flags = flags, .main = "e2e.Yields", .args = {"200000"}};
  java.flags.push_back("-Xmx300m");
  java.agent_options = "file=" + recording + ",rate=2000" + options;
  const Outcome outcome = Run(java);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out.find("Small ") == 0 ? std::stod(outcome.out.substr(6)) : 0;
}

json RowsBy(const std::string& verb, const std::string& recording) {
  const Outcome outcome = Run(Command{{HeaprecPath(), verb, "--by", "class", "--limit", "0", "--json", recording}});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json document = json::parse(outcome.out);
  return verb == "top" ? document["tables"][0]["rows"] : document["rows"];
}

json RowOf(const json& rows, const std::string& name) {
  for (const json& row : rows) {
    if (row["name"] == name) return row;
  }
  return {};
}

double ValueOf(const json& number) { return (number.is_object() ? number["value"] : number).get<double>(); }

bool Holds(const json& estimate, double truth) {
  const double value = estimate["value"], low = estimate["low"], high = estimate["high"];
  const double wider = 5.5 / 1.96, slack = 1e-3 * truth;
  return value - wider * (value - low) - slack <= truth && truth <= value + wider * (high - value) + slack;
}

void RequireTrustworthy(const json& summary) {
  INFO(summary.dump(1));
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["losses"]["lost"]["missed"]["bytes"] < 0.001 * summary["allocated_bytes"].get<double>());
}

}  // namespace

TEST_CASE("Stacks of virtual threads that yield are counted separately, and the recording is trustworthy") {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-XX:+UseG1GC"}, {"-XX:+UseParallelGC"}, {"-XX:+UseG1GC", "-XX:-UseCompressedOops"}}) {
    INFO(flags.back());
    const std::string recording = FreshFolder() + "/rec.bin";
    const double made = RunYields(recording, "", flags);
    if (made == 0) return;
    const json summary = ReadSummary(recording);
    RequireTrustworthy(summary);
    CHECK(summary["losses"]["stack_chunks"]["objects"] > 100'000);
    CHECK(Holds(RowOf(RowsBy("top", recording), kSmall)["objects"], made));
  }
}

TEST_CASE("Reports show the counts of a census, also for rare classes") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const double made = RunYields(recording, ",census=all", {"-XX:+UseG1GC"});
  if (made == 0) return;
  const json summary = ReadSummary(recording), counted = RowsBy("census", recording), shown = RowsBy("top", recording);
  RequireTrustworthy(summary);
  CHECK(ValueOf(RowOf(counted, kSmall)["objects"]) == made);
  CHECK(ValueOf(RowOf(counted, "jdk.internal.vm.StackChunk")["bytes"]) ==
        Approx(summary["losses"]["stack_chunks"]["bytes"].get<double>()).epsilon(0.001));
  CHECK(Holds(RowOf(shown, kSmall)["objects"], made));
  int compared = 0;
  for (const json& row : shown) {
    const json truth = RowOf(counted, row["name"]);
    if (truth.is_null() || row["samples"] < 5) continue;
    INFO(row.dump() << " of " << truth.dump());
    CHECK(Holds(row["bytes"], ValueOf(truth["bytes"])));
    ++compared;
  }
  CHECK(compared >= 5);
}

}  // namespace heaprec::testing
