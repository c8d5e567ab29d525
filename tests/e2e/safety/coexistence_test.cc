// JFR beside us: its unthrottled TLAB events are what they are without us, and its file is whole.
//
// Statistic: event count and sum of a deterministic program on one thread, Serial, TLABs of fixed size. JFR's own
//            variation is measured first, on three runs without us; with us they may be off by that and 0.5 % more. A
//            hook that swallowed the call, or a TLAB retired early for us, would be off by tens of percent.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

// Every event, without stacks: they would only make reading slow.
constexpr const char* kSettings = R"(<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ObjectAllocationInNewTLAB">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">false</setting>
  </event>
  <event name="jdk.ObjectAllocationOutsideTLAB">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">false</setting>
  </event>
</configuration>
)";

struct JfrTotals {
  double refills = 0, tlab_bytes = 0, outside = 0, outside_bytes = 0;
};

// Of the program's own thread.
JfrTotals TotalsIn(const std::string& file) {
  const Outcome printed = Run(Command{{JavaHome() + "/bin/jfr", "print", "--json", "--stack-depth", "1", "--events",
                                       "jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB", file}});
  REQUIRE(printed.exit_code == 0);
  JfrTotals totals;
  const auto document = nlohmann::json::parse(printed.out);
  for (const auto& event : document["recording"]["events"]) {
    const auto& values = event["values"];
    if (!values["eventThread"].is_object() || values["eventThread"]["javaName"] != "worker-0-0") continue;
    if (event["type"] == "jdk.ObjectAllocationInNewTLAB") {
      totals.refills += 1;
      totals.tlab_bytes += values["tlabSize"].get<double>();
    } else {
      totals.outside += 1;
      totals.outside_bytes += values["allocationSize"].get<double>();
    }
  }
  return totals;
}

JfrTotals RunUnderJfr(const std::string& folder, const std::string& name, const std::string& agent_options) {
  const std::string file = folder + "/" + name + ".jfr";
  Java java{.flags = {"-XX:+UseSerialGC", "-XX:-ResizeTLAB", "-XX:TLABSize=64k", "-Xmn64m",
                      "-XX:StartFlightRecording=settings=" + folder + "/tlab.jfc,filename=" + file, "-Xlog:disable",
                      "-Xlog:all=warning:stderr"},
            .main = "e2e.Sizes",
            .args = {"16", "1", "1", "6000", "48", "1000", "6000", "20000"}};
  if (!agent_options.empty()) java.agent_options = agent_options;
  const Outcome outcome = Run(java);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Outcome summary = Run(Command{{JavaHome() + "/bin/jfr", "summary", file}});
  CHECK(summary.exit_code == 0);
  CHECK(summary.out.find("jdk.ObjectAllocationInNewTLAB") != std::string::npos);
  return TotalsIn(file);
}

void RequireLike(double with, const std::vector<double>& without) {
  const auto [low, high] = std::minmax_element(without.begin(), without.end());
  const double slack = (*high - *low) + 0.005 * *high;
  INFO("without us " << *low << " to " << *high << ", with us " << with);
  CHECK(*low > 100);
  CHECK(with >= *low - slack);
  CHECK(with <= *high + slack);
}

const std::vector<JfrTotals>& BaselineRuns(const std::string& folder) {
  static std::vector<JfrTotals> runs;
  while (runs.size() < 3) runs.push_back(RunUnderJfr(folder, "without-" + std::to_string(runs.size()), ""));
  return runs;
}

// Either may be there first: then its breakpoints on AllocTracer lead us into the vtables, or ours are diverted
// already.
void RequireBoth(const std::string& profiler, const std::string& event, bool profiler_first) {
  const std::string folder = FreshFolder();
  const std::string ours = "-agentpath:" + AgentPath() + "=rate=150,file=" + folder + "/rec.bin";
  std::vector<std::string> flags{"-agentpath:" + profiler + "=start,event=" + event + ",file=" + folder + "/x.jfr"};
  flags.insert(profiler_first ? flags.end() : flags.begin(), ours);
  const Outcome outcome = Run(Java{.flags = flags, .main = "e2e.Load", .args = {"4", "1500", "0"}});
  INFO(event << ": " << outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  const std::string samples = event == "alloc" ? "jdk.ObjectAllocationInNewTLAB" : "jdk.ExecutionSample";
  const Outcome printed = Run(Command{{JavaHome() + "/bin/jfr", "print", "--events", samples, folder + "/x.jfr"}});
  CHECK(printed.out.find(samples + " {") != std::string::npos);
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.source() == "hooks");
  CHECK(rows.trustworthy());
}

}  // namespace

TEST_CASE("JFR's unthrottled TLAB events do not change with our hooks") {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/tlab.jfc") << kSettings;
  const JfrTotals with = RunUnderJfr(folder, "with", "file=" + folder + "/rec.bin,rate=1000,source=hooks");
  const auto compare = [&](double JfrTotals::*field) {
    std::vector<double> values;
    for (const JfrTotals& totals : BaselineRuns(folder)) values.push_back(totals.*field);
    RequireLike(with.*field, values);
  };
  compare(&JfrTotals::refills);
  compare(&JfrTotals::tlab_bytes);
  compare(&JfrTotals::outside);
  compare(&JfrTotals::outside_bytes);
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.source() == "hooks");
  CHECK(rows.rows.size() > 100);
}

// HEAPREC_ASYNC_PROFILER: path of its library; it is no part of this project.
TEST_CASE("async-profiler works before and after our agent: its samples and our recording are complete") {
  const char* const library = getenv("HEAPREC_ASYNC_PROFILER");  // NOLINT(concurrency-mt-unsafe): a test
  if (library == nullptr) {
    WARN("needs HEAPREC_ASYNC_PROFILER");
    return;
  }
  for (const std::string event : {"itimer", "alloc"}) {
    for (const bool first : {true, false}) RequireBoth(library, event, first);
  }
}

TEST_CASE("JFR's default recording stays readable beside ours, and ours is correct") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.flags = {"-XX:StartFlightRecording=settings=profile,filename=" + folder + "/x.jfr",
                                             "-Xlog:disable", "-Xlog:all=warning:stderr"},
                                   .main = "e2e.Load",
                                   .args = {"4", "1500", "0"},
                                   .agent_options = "file=" + folder + "/rec.bin,rate=150"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  const Outcome summary = Run(Command{{JavaHome() + "/bin/jfr", "summary", folder + "/x.jfr"}});
  CHECK(summary.exit_code == 0);
  CHECK(summary.out.find("jdk.ObjectAllocationInNewTLAB") != std::string::npos);  // on 11 too
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.source() == "hooks");
  CHECK(rows.trustworthy());
}

}  // namespace heaprec::testing
