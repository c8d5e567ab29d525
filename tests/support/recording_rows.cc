#include "tests/support/recording_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <regex>

namespace heaprec::testing {
namespace {

std::string Folded(const nlohmann::json& stack) {
  std::string folded;
  const auto& frames = stack["frames"];
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if (!folded.empty()) folded += ';';
    folded += (*frame)["method"].get<std::string>();
    const int line = (*frame)["line"];
    if (line >= 0) folded += ":" + std::to_string(line);
  }
  return folded;
}

Row RowOf(const nlohmann::json& event, uint64_t start_ns) {
  Row row;
  row.time_ns = event["time_ns"].get<uint64_t>() - start_ns;
  row.kind = event["kind"];
  row.class_name = event["class"];
  row.size = event["size"];
  row.weight_bytes = event["weight_bytes"];
  row.weight_objects = event["weight_objects"];
  row.probability = event["probability"];
  row.thread = event["thread"]["name"];
  row.java_tid = event["thread"]["java_tid"];
  row.os_tid = event["thread"]["os_tid"];
  row.is_virtual = event["thread"]["virtual"];
  if (event["stack"].is_object()) {
    row.stack = Folded(event["stack"]);
    row.truncated = event["stack"]["truncated"];
  }
  return row;
}

}  // namespace

std::string Rows::AsRecorded(const std::string& java) const {
  if (!summary["recording"]["jvm_version"].get<std::string>().starts_with("11.")) return java;
  return std::regex_replace(java, std::regex("/0x[0-9a-f]+"), "");
}

std::vector<Row> Rows::Where(const std::function<bool(const Row&)>& keep) const {
  std::vector<Row> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), keep);
  return kept;
}

std::vector<uint64_t> Rows::PerInterval() const {
  std::vector<uint64_t> counts;
  for (const Row& row : rows) {
    const size_t index = row.time_ns / interval_ns();
    counts.resize(std::max(counts.size(), index + 1));
    ++counts[index];
  }
  return counts;
}

std::string OutputOf(const Command& command) {
  const Outcome outcome = Run(command);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out;
}

void RequireHeaprec(std::vector<std::string> args) { (void)OutputOf(HeaprecCommand(std::move(args))); }

nlohmann::json HeaprecJson(std::vector<std::string> args, const std::vector<std::string>& more) {
  args.insert(args.end(), more.begin(), more.end());
  return nlohmann::json::parse(OutputOf(HeaprecCommand(std::move(args))));
}

nlohmann::json RowNamed(const nlohmann::json& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one["name"] == name; });
  return row != rows.end() ? *row : nlohmann::json();
}

nlohmann::json ReadSummary(const std::string& recording) { return HeaprecJson({"summary", "--json", recording}); }

void RequireVerified(const std::string& recording) { RequireHeaprec({"verify", recording}); }

RecordedJava RecordJava(const Java& java, const std::string& options) {
  return RecordAll({{java, options}}, 1).front();
}

std::vector<RecordedJava> RecordAll(std::vector<JavaWithOptions> all, size_t at_once) {
  std::vector<RecordedJava> recorded;
  std::vector<Command> commands;
  for (auto& [java, options] : all) {
    recorded.push_back({FreshFolder() + "/rec.bin", {}});
    java.agent_options = "file=" + recorded.back().file + (options.empty() ? "" : "," + options);
    commands.push_back(CommandOf(java));
  }
  const std::vector<Outcome> outcomes = RunAll(commands, at_once);
  for (size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].java.flags, all[i].options, outcomes[i].out, outcomes[i].err);
    REQUIRE(outcomes[i].exit_code == 0);
    recorded[i].outcome = outcomes[i];
  }
  return recorded;
}

Rows ReadRows(const std::string& recording) {
  Rows all;
  all.summary = ReadSummary(recording);
  const uint64_t start_ns = all.summary["recording"]["start_ns"];
  const nlohmann::json printed = HeaprecJson({"print", "--json", "--stack-depth", "0", recording});
  for (const auto& event : printed["events"]) all.rows.push_back(RowOf(event, start_ns));
  return all;
}

void RequireWriteLossesCounted(const Rows& rows) {
  CHECK(rows.Lost("write_failed") > 0);
  CHECK(!rows.trustworthy());
  CHECK(rows.summary["ended"] == "jvm exit");
  const auto& counters = rows.summary["losses"];
  CHECK(counters["committed"] ==
        counters["written"].get<uint64_t>() + counters["second_stage"].get<uint64_t>() + rows.Lost("write_failed"));
  const auto of_heap = rows.Where([](const Row& row) { return row.kind == "tlab" || row.kind == "outside"; });
  CHECK(counters["written"] == of_heap.size());
  // What was counted meanwhile is in the file, and the total includes what found no room in the ring.
  const auto& estimates = rows.summary["estimates"];
  CHECK(estimates["calibrated"] == true);
  CHECK(estimates["bytes"]["value"].get<double>() ==
        Approx(rows.summary["allocated_bytes"].get<double>()).epsilon(0.002));
}

}  // namespace heaprec::testing
