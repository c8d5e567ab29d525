#include "tools/report/page_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/call_tree.h"
#include "tools/analysis/health/diagnosis.h"
#include "tools/analysis/health/trust.h"
#include "tools/analysis/name_pool.h"
#include "tools/input/writer_process.h"
#include "tools/query/class_site_totals.h"
#include "tools/query/group_query.h"
#include "tools/query/headlines.h"
#include "tools/query/scan.h"
#include "tools/query/summary_query.h"
#include "tools/report/headline_inputs.h"
#include "tools/text/exit_code.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

// The largest site and class, as `top` has them. Standard input cannot be read again: then none.
void AddLargest(const std::string& path, bool use_census, HeadlineInputs* into) {
  ScanOptions options;
  options.files = {path};
  options.no_census = !use_census;
  auto scan = path == "-" ? format::Error{""} : RecordingScan::Parse(options);
  if (!scan.ok()) return;
  scan->BeQuiet();
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  GroupsScan groups({Grouping(By::kSite), Grouping(By::kClass)}, options.OwnFrames());
  if (scan->Run(&tree, &groups) == ExitCode::kUnreadable) return;
  const auto largest = [&tree](const Groups& of) -> std::optional<HeadlineInputs::Top> {
    const auto ranked = Ranked(of, {.sort = "bytes", .limit = 1}, tree);
    if (ranked.empty()) return std::nullopt;
    return HeadlineInputs::Top{of.grouping().NameOf(ranked.front()->key, tree), ranked.front()->estimates.share};
  };
  into->site = largest(groups.tables()[0]);
  into->klass = largest(groups.tables()[1]);
}

json AsJson(const Headlines& headlines) {
  json sentences = json::array();
  for (const Headline& one : headlines.sentences) {
    sentences.push_back({{"id", one.id}, {"mood", MoodName(one.mood)}, {"text", one.text}});
  }
  return sentences;
}

json FactsAsJson(const Recording& recording, const Facts& facts) {
  const format::FileHeader& header = recording.header();
  const format::StreamCounters& counters = recording.counters();
  json list = json::array();
  const auto add = [&list](const char* name, std::string value) {
    if (!value.empty()) list.push_back({name, ToUtf8(std::move(value))});
  };
  add("JVM", header.jvm_name + " " + header.jvm_version);
  add("GC", header.gc_name);
  add("Duration", Duration(facts.duration_ns));
  add("Ended", facts.ended);
  add("Agent", header.agent_version);
  add("Options", header.agent_options);
  add("Source", header.source + (header.source_reason.empty() ? "" : " (" + header.source_reason + ")"));
  add("Rate", fmt::format("limit {:g} samples/s, mean {:.1f} samples/s", header.rate_per_second, facts.mean_rate));
  add("Sample points",
      fmt::format("{}, {} thinned, {} left out by the second stage, {} lost", Grouped(counters.points),
                  Grouped(counters.thinned), Grouped(counters.second_stage), Grouped(counters.AllLost())));
  if (!facts.heap.empty()) {
    add("Heap", fmt::format("peak used {}, peak committed {}", Bytes(static_cast<double>(facts.heap.most_used)),
                            Bytes(static_cast<double>(facts.heap.most_committed))));
    add("Threads", facts.heap.most_threads > 0 ? fmt::format("peak {}", Grouped(facts.heap.most_threads)) : "");
    add("Resident memory", facts.heap.most_rss > 0 ? "peak " + Bytes(static_cast<double>(facts.heap.most_rss)) : "");
  }
  add("PID", std::to_string(header.pid));
  return list;
}

HeadlineInputs InputsOf(const Recording& recording, const Facts& facts, const TrustReport& trust, bool use_census) {
  HeadlineInputs inputs = HeadlineInputsOf(recording, facts, trust);
  AddLargest(inputs.file, use_census, &inputs);
  // The page may be read anywhere: where the recording lay here says nothing there.
  inputs.file = inputs.file.substr(inputs.file.rfind('/') + 1);
  return inputs;
}

// What `heaprec doctor` finds. Reads the recording to its end.
json FindingsOf(Recording* recording) {
  json findings = json::array();
  for (const Finding& one : Diagnose(recording)) {
    findings.push_back({{"id", one.id},
                        {"level", LevelName(one.level)},
                        {"what", one.what},
                        {"means", one.impact},
                        {"do", one.action}});
  }
  return findings;
}

}  // namespace

json PageFacts(const Recording& recording, bool use_census) {
  json page = json::object();
  auto again = recording.Again();
  if (!again.ok()) return page;
  Recording& one = **again;
  const CensusStrata census = use_census ? StrataOf(one) : CensusStrata();
  VolumeOfBlocks blocks(one.header(), census.strata);
  ClassSiteTotals breakdown;
  const Facts facts = FactsOf(&one, nullptr, &blocks, &breakdown);
  const TrustReport trust = AssessTrust(one, facts.totals, facts.volume);
  const Headlines headlines = HeadlinesOf(InputsOf(one, facts, trust, use_census));
  page["headlines"] = AsJson(headlines);
  page["next"] = {{"command", headlines.next_command}, {"reason", headlines.next_reason}};
  page["facts"] = FactsAsJson(one, facts);
  page["jvm"] = ToUtf8(one.header().jvm_name + " " + one.header().jvm_version);
  page["gc"] = ToUtf8(one.header().gc_name);
  page["start_epoch_ns"] = one.header().start_epoch_ns;
  page["seconds"] = static_cast<double>(facts.duration_ns) * 1e-9;
  page["trustworthy"] = trust.reasons.empty();
  if (auto third = recording.Again(); third.ok()) page["findings"] = FindingsOf(third->get());
  return page;
}

}  // namespace heaprec::tools
