// heaprec import of what the JDK itself records, judged by the JDK's own reader of the same file; and of what heaprec
// exports, judged by the recording that it was.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/e2e/jfr/jfr_rows.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr uint64_t kTick = 64;  // the resolution of a recording's times

// All three kinds of events of allocations; JDK 11 does not know the first.
constexpr char kSettings[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ObjectAllocationSample">
    <setting name="enabled">true</setting><setting name="throttle">500/s</setting><setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ObjectAllocationInNewTLAB">
    <setting name="enabled">true</setting><setting name="stackTrace">true</setting>
  </event>
  <event name="jdk.ObjectAllocationOutsideTLAB">
    <setting name="enabled">true</setting><setting name="stackTrace">true</setting>
  </event>
</configuration>
)";

// A JFR recording of threads that allocate small and large arrays, with heaprec beside it if `options` are given.
std::string RecordWithJfr(const std::string& folder, const std::optional<std::string>& options = {}) {
  const std::string settings = folder + "/all.jfc", jfr = folder + "/jdk.jfr";
  std::ofstream(settings) << kSettings;
  const Outcome outcome = Run(Java{.flags = {"-XX:StartFlightRecording=filename=" + jfr + ",settings=" + settings},
                                   .main = "e2e.Sizes",
                                   .args = {"0", "2", "3", "3000", "64", "1024", "200000"},
                                   .agent_options = options});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return jfr;
}

std::string Import(const std::string& jfr, const std::vector<std::string>& options = {}) {
  std::string recording = FreshFolder() + "/imported.bin";
  Command command{{HeaprecPath(), "import", jfr, "-o", recording}};
  command.args.insert(command.args.end(), options.begin(), options.end());
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(Run(Command{{HeaprecPath(), "verify", recording}}).exit_code == 0);
  return recording;
}

// What the JDK says, with the times and weights that a recording has of it.
std::vector<JfrRow> Expected(std::vector<JfrRow> rows, bool samples, const std::string& recording) {
  const uint64_t start_ns = ReadSummary(recording)["recording"]["start_ns"];
  std::erase_if(rows, [samples](const JfrRow& row) { return (row.event == "jdk.ObjectAllocationSample") != samples; });
  for (JfrRow& row : rows) {
    row.time_ns = row.time_ns < start_ns ? start_ns : start_ns + (row.time_ns - start_ns) / kTick * kTick;
    if (!samples) row.weight = static_cast<double>(row.tlab_size > 0 ? row.tlab_size : row.size);
  }
  Sort(&rows);
  return rows;
}

double SumOf(const std::vector<JfrRow>& rows) {
  double sum = 0;
  for (const JfrRow& row : rows) sum += row.weight;
  return sum;
}

}  // namespace

TEST_CASE("Every event of a JFR recording is imported as the JDK itself reads it: time, class, thread, stack, weight") {
  const std::string jfr = RecordWithJfr(FreshFolder());
  const std::vector<JfrRow> rows = ReadWithJdk(jfr);
  const bool has_samples =
      std::ranges::any_of(rows, [](const JfrRow& row) { return row.event == "jdk.ObjectAllocationSample"; });
  if (has_samples) {  // from JDK 16 on
    const std::string recording = Import(jfr);
    const std::vector<JfrRow> expected = Expected(rows, true, recording);
    CHECK(expected.size() > 20);
    RequireSame(ReadWithHeaprec(recording), expected, 0);
  }
  const std::string recording = Import(jfr, {"--events", "tlab"});
  const std::vector<JfrRow> expected = Expected(rows, false, recording);
  CHECK(expected.size() > 100);
  RequireSame(ReadWithHeaprec(recording), expected, 0);
  CHECK(ReadSummary(recording)["trustworthy"] == false);
}

// HEAPREC_ASYNC_PROFILER: path of its library; it is no part of this project.
TEST_CASE("Every event of async-profiler is imported as the JDK reads it") {
  const char* const agent = getenv("HEAPREC_ASYNC_PROFILER");  // NOLINT(concurrency-mt-unsafe): a test
  if (agent == nullptr) {
    WARN("needs HEAPREC_ASYNC_PROFILER");
    return;
  }
  for (const std::string event : {"alloc=64k", "alloc,tlab"}) {
    const std::string jfr = FreshFolder() + "/async.jfr";
    const std::string options = "start,event=alloc," + event + ",jfr,file=" + jfr;
    const Outcome outcome = Run(Java{.flags = {std::string("-agentpath:") + agent + "=" + options},
                                     .main = "e2e.Sizes",
                                     .args = {"0", "2", "3", "3000", "64", "1024", "200000"}});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::string recording = Import(jfr);
    const std::vector<JfrRow> expected = Expected(ReadWithJdk(jfr), false, recording);
    CHECK(expected.size() > 100);
    RequireSame(ReadWithHeaprec(recording), expected, 0);
    CHECK(ReadSummary(recording)["recording"]["source_reason"].get<std::string>().starts_with("async-profiler"));
  }
}

TEST_CASE("After export and import a recording has the same events, with weights to half a byte") {
  const std::string folder = FreshFolder(), recording = folder + "/rec.bin", jfr = folder + "/rec.jfr";
  // The JDK's own recording beside ours disturbs neither.
  const std::string of_jdk = RecordWithJfr(folder, "file=" + recording + ",rate=300");
  REQUIRE(Run(Command{{HeaprecPath(), "export", "--format", "jfr", "-o", jfr, recording}}).exit_code == 0);
  const std::string again = Import(jfr);
  const std::vector<JfrRow> before = ReadWithHeaprec(recording);
  CHECK(before.size() > 100);
  RequireSame(ReadWithHeaprec(again), before, 0.5);
  const auto summary = ReadSummary(again);
  CHECK(summary["recording"]["source"] == "imported from heaprec");
  CHECK(summary["recording"]["start_ns"] == ReadSummary(recording)["recording"]["start_ns"]);
  // Both tell of the bytes of the same program. Statistic: the sum of 100 samples or more has a relative standard
  // deviation of 10 % at most; refused with less than 5e-7.
  const double of_tlabs = SumOf(ReadWithHeaprec(Import(of_jdk, {"--events", "tlab"})));
  CHECK(SumOf(before) > 0.5 * of_tlabs);
  CHECK(SumOf(before) < 2 * of_tlabs);
}

}  // namespace heaprec::testing
