#include "tools/input/stream_traits.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/small_recording.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/reports.h"

namespace heaprec::tools {
namespace {

// A stream that does not exist: one row. Its samples are those of the allocations.
constexpr StreamTraits kLocks{.stream = format::Stream::kAllocations,
                              .name = "locks",
                              .json_path = "locks.",
                              .prefix = "locks: ",
                              .event = "heaprec.LockSample",
                              .verb = "contended",
                              .not_recorded = ": locks were not recorded",
                              .counts_calls = true,
                              .is_in_jfr = false,
                              .lifecycle = {.things = "locks"}};

// Its report.
render::Report LocksReport(const Recording& recording, const StreamTotals& totals) {
  render::Report report("heaprec.locks/1");
  report.Add(render::Fact(kLocks.name,
                          std::string("{} sample(s) of ") + kLocks.lifecycle.things + " that were " + kLocks.verb,
                          {{std::string(kLocks.json_path) + "samples", totals.events(), render::Unit::kInteger}}));
  report.Add(StreamFacts(recording, kLocks, totals));
  return report;
}

TEST_CASE("A new stream is a row and a report") {
  const testing::Directory directory;
  testing::WriteSmall(directory / "rec.hrec");
  auto recording = Recording::Open(directory / "rec.hrec");
  REQUIRE(recording.ok());
  StreamTotals totals((*recording)->header().interval_ns, kLocks.stream);
  while (const auto block = (*recording)->Next()) totals.Add(*block);
  const render::Report report = LocksReport(**recording, totals);
  const auto document = nlohmann::json::parse(render::RenderJson(report));
  CHECK(document["locks"]["samples"] == 3);
  CHECK(document["locks"]["intervals"] == 3);
  CHECK(document["locks"]["windows"] == 1);
  const std::string text = render::RenderText(report, Terminal{}, /*wide=*/true);
  CHECK(text.find("3 samples of locks that were contended") != std::string::npos);
  CHECK_FALSE(kLocks.lifecycle.is_tracked());
}

TEST_CASE("Streams have their own names") {
  std::set<std::string> names, paths, prefixes;
  for (const StreamTraits& traits : kStreamTraits) {
    names.insert(traits.name);
    paths.insert(traits.json_path);
    prefixes.insert(traits.prefix);
    CHECK(TraitsOf(traits.stream).name == traits.name);
  }
  CHECK(names.size() == kStreamTraits.size());
  CHECK(paths.size() == kStreamTraits.size());
  CHECK(prefixes.size() == kStreamTraits.size());
}

}  // namespace
}  // namespace heaprec::tools
