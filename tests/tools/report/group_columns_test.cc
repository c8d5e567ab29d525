// The columns of top, tree and histogram: one declaration is all that a column needs.
#include "tools/report/columns/group_columns.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/small_recording.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/stream_traits.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/reports.h"

namespace heaprec::tools {
namespace {

using namespace render;

constexpr Terminal kUnbounded{0, false, true};

GroupRow SomeRow() {
  GroupRow row;
  row.name = "p.Leaf.make";
  row.own.samples = 70;
  row.own.bytes = {168'000, 150'000, 190'000};
  row.own.objects = {7'000, 6'000, 8'000};
  row.own.share = {0.53, 0.5, 0.56};
  row.own.mean_size = {24, 24, 24};
  row.seconds = 2;
  return row;
}

Report ReportOf(const std::vector<Column<GroupRow>>& columns) {
  Report report("heaprec.top/1");
  report.Add(MakeTable<GroupRow>("tables[]", columns, {SomeRow()}));
  return report;
}

TEST_CASE("A declared column appears in text, JSON, CSV, Markdown and HTML") {
  std::vector<Column<GroupRow>> columns = GroupColumns(GroupWords{});
  columns.insert(columns.begin(), {"bytes_per_sample", "bytes/sample", Unit::kBytes, Detail::kAlways,
                                   [](const GroupRow& row) { return row.own.bytes.value / 70; }});
  const Report report = ReportOf(columns);
  CHECK(RenderText(report, kUnbounded, false).find("bytes/sample") != std::string::npos);
  CHECK(RenderText(report, kUnbounded, false).find("2.34 KiB") != std::string::npos);
  const nlohmann::json row = nlohmann::json::parse(RenderJson(report))["tables"][0]["rows"][0];
  CHECK(row["bytes_per_sample"] == 2400);
  CHECK(RenderCsv(report).starts_with("bytes_per_sample,bytes,"));
  CHECK(RenderMarkdown(report, false).find("| bytes/sample |") != std::string::npos);
  CHECK(RenderHtml(report, false).find("data-value=\"2400\">2.34 KiB") != std::string::npos);
}

TEST_CASE("Rates are per second of the time read, and unknown without one") {
  const auto rate = [](double seconds) {
    GroupRow row = SomeRow();
    row.seconds = seconds;
    Report report("heaprec.top/1");
    report.Add(MakeTable<GroupRow>("rows", GroupColumns(GroupWords{}), {row}));
    return nlohmann::json::parse(RenderJson(report))["rows"][0]["bytes_per_second"];
  };
  CHECK(rate(2)["value"] == 84'000);
  CHECK(rate(0)["high"].is_null());
}

TEST_CASE("Exceptions have no bytes and no sizes") {
  GroupWords words;
  words.counts_events = true;
  const nlohmann::json row = nlohmann::json::parse(RenderJson(ReportOf(GroupColumns(words))))["tables"][0]["rows"][0];
  CHECK(row["events"]["value"] == 168'000);
  CHECK(row.contains("events_per_second"));
  CHECK_FALSE(row.contains("bytes"));
  CHECK_FALSE(row.contains("mean_size"));
}

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
