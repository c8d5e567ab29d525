// 64 threads that do nothing but allocate, in TLABs of 4 KB, so that every other object is a candidate.
// $HEAPREC_STRESS_SECONDS: for each collector; 2 by default.
//
// Statistic: the total by its own interval, three times as wide: 5.9 standard errors, a false alarm in 3e8.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

int Seconds() {
  const char* const text = getenv("HEAPREC_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe): one thread
  return text != nullptr ? std::atoi(text) : 2;               // NOLINT(cert-err34-c)
}

void RequireSurvival(const std::string& collector) {
  const std::string recording = FreshFolder() + "/rec.bin";
  Command command = CommandOf(Java{.flags = {"-XX:+UnlockExperimentalVMOptions", "-XX:+Use" + collector + "GC",
                                             "-XX:-ResizeTLAB", "-XX:TLABSize=4k", "-XX:MinTLABSize=4k"},
                                   .main = "e2e.Load",
                                   .args = {"64", std::to_string(Seconds() * 1000), "0"},
                                   .agent_options = "file=" + recording + ",rate=5000"});
  command.seconds = Seconds();
  const Outcome outcome = Run(command);
  INFO(collector << ": " << outcome.err);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "running\ndone\n");
  CHECK(outcome.err.empty());

  const auto summary = ReadSummary(recording);
  INFO(summary.dump());
  CHECK(summary["recording"]["source"] == "hooks");
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["max_in_interval"] <= summary["recording"]["interval_cap"]);
  const auto& counters = summary["losses"];
  const auto lost = [&counters](const char* reason) { return counters["lost"][reason]["points"].get<uint64_t>(); };
  CHECK(lost("lanes_busy") == 0);  // no lane was lost, nor waited for
  CHECK(lost("ring_full") == 0);
  CHECK(lost("oversized") == 0);
  CHECK(lost("no_clock") == 0);
  CHECK(counters["points"] ==
        counters["committed"].get<uint64_t>() + counters["thinned"].get<uint64_t>() + lost("missed"));
  CHECK(counters["committed"] == counters["written"].get<uint64_t>() + counters["second_stage"].get<uint64_t>());
  CHECK(counters["written"] == summary["samples"]);
  const auto& total = summary["estimates"]["bytes_uncalibrated"];
  const double width = total["high"].get<double>() - total["low"].get<double>();
  CHECK(std::abs(total["value"].get<double>() - summary["allocated_bytes"].get<double>()) <= 1.5 * width);
}

}  // namespace

TEST_CASE("64 threads with TLABs of 4 KB: no crash, no lost lane, exact counters, with every collector") {
  for (const char* const collector : {"G1", "Serial", "Parallel", "Z", "Shenandoah"}) RequireSurvival(collector);
}

}  // namespace heaprec::testing
