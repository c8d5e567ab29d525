#include "tools/report/page/page_parts.h"

#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/health/diagnosis.h"
#include "tools/analysis/health/trust.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/allocations/advice_scan.h"
#include "tools/query/allocations/census_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/live/live_query.h"
#include "tools/query/live/native_query.h"
#include "tools/query/live/path_query.h"
#include "tools/query/scan/scan.h"
#include "tools/query/summary/summary_query.h"
#include "tools/query/why/explanation.h"
#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/report/estimates/reports.h"
#include "tools/report/page/memory_picture.h"
#include "tools/report/recording/reports.h"
#include "tools/report/recording/why_report.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Limits for the page's tables and memory snapshots, so that it stays small.
constexpr size_t kRows = 100, kSnapshots = 12;

using Groupings = std::vector<Grouping>;

std::string Html(const render::Report& report) { return render::HtmlBody(report, /*wide=*/true); }

std::string LiveTab(const std::string& path) {
  FileScan tab(path);
  LiveQuery question;
  question.by = Groupings{Grouping(By::kClass), Grouping(By::kSite)};
  question.grown = 1;
  question.lifetimes = true;
  LiveVisitor live(std::move(question), tab.tree());
  if (!tab.Run(&live) || live.result().tracked == 0) return "";
  const LiveAnswer answer{tab.scan(), live.result(), *tab.tree(), {.sort = "bytes", .limit = kRows}};
  return "<h3>Live objects</h3>" + Html(LiveObjectsReport(answer)) + "<h3>Lifetimes</h3>" +
         Html(LifetimesReport(answer));
}

std::string LeaksTab(const std::string& path) {
  FileScan tab(path);
  LiveQuery question;
  question.by = Groupings{Grouping(By::kSite)};
  question.leaks = true;
  LiveVisitor live(std::move(question), tab.tree());
  if (!tab.Run(&live) || live.result().tracked == 0) return "";
  return Html(LeaksReport({tab.scan(), live.result(), *tab.tree(), {}}, {.limit = kRows, .all = true}));
}

// Empty: the heap was not searched.
std::string PathsTab(const std::string& path) {
  auto searches = FindPathSearches({path}, std::nullopt);
  if (!searches.ok()) return "";
  FileScan tab(path);
  PathVisitor paths(std::move(*searches), tab.tree());
  if (!tab.Run(&paths)) return "";
  return Html(PathsReport(tab.scan(), paths, {}));
}

// Empty: the recording has no account of the process.
std::string WhyTab(const std::string& path) {
  const auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) return "";
  Explanation why = ExplainEnd(recordings->front().get(), path, /*is_alone=*/true, "");
  const std::string picture = MemoryPicture(why.facts, why.verdict);
  if (picture.empty()) return "";
  AddChanges(&why);
  // The page may be opened on another machine, so the local folder is omitted.
  why.advice = NextStepsOf(why.facts, why.verdict, why.grown, why.sites, path.substr(path.rfind('/') + 1));
  render::Report report("heaprec.why/1");
  report.Add(WhyReport(why, /*is_brief=*/false));
  return picture + Html(report);
}

std::string AdviceTab(const std::string& path) {
  const std::vector<RuleFinding> findings = SearchAdvice(path);
  if (findings.empty()) return "";
  render::Report report("heaprec.summary/1");
  report.Add(AdviceTable(findings, kRows));
  return Html(report);
}

std::string CensusTab(const std::string& path) {
  std::string html;
  for (const CensusBy by : {CensusBy::kClass, CensusBy::kThread}) {
    CensusChoice choice;
    choice.by = by;
    auto scan = CensusScan::Parse(choice);
    if (!scan.ok() || scan->Read({path}) == ExitCode::kUnreadable) return "";
    html += Html(CensusReport(*scan, nullptr, {.sort = "bytes", .limit = kRows}));
  }
  return html;
}

std::string BlocksPart(const std::string& path, render::Object* facts) {
  FileScan tab(path, {"malloc"});
  NativeVisitor native(Grouping(By::kSite), {}, tab.tree());
  if (!tab.Run(&native) || native.live().tracked == 0) return "";
  facts->push_back({"native_live", render::Object{{"ns", native.live().instants},
                                                  {"bytes", native.live().all.growth[kWholeTime].bytes}}});
  return "<h3>Blocks of malloc</h3>" +
         Html(NativeReport({.scan = tab.scan(), .native = native, .tree = *tab.tree(), .limit = kRows}));
}

std::string MappingsPart(const std::string& path) {
  FileScan tab(path, {"mmap"});
  MappingVisitor mappings(Grouping(By::kSite), {}, tab.tree());
  if (!tab.Run(&mappings) || !mappings.has_any()) return "";
  render::Report report("heaprec.native_sampled/1");
  AddMappings({.scan = tab.scan(), .mappings = mappings, .tree = *tab.tree(), .limit = kRows}, &report);
  return "<h3>Mappings</h3>" + Html(report);
}

std::string CategoriesPart(const std::string& path) {
  auto recording = Recording::OpenAll(path);
  if (!recording.ok()) return "";
  MemoryTimeline timeline;
  Walk(recording->front().get(), [&](const format::Block& block) { timeline.Add(block); });
  if (!timeline.has_snapshots()) return "";
  MemoryAnswer answer{timeline.Snapshots(), {}, {}, {}};
  answer.shown = ChooseSnapshots(answer.snapshots, kSnapshots);
  render::Report report("heaprec.memory/1");
  AddMemory(answer, &report);
  return "<h3>The JVM's categories, and the process</h3>" + Html(report);
}

std::string ExceptionsTab(const std::string& path) {
  FileScan tab(path, {"exception"});
  GroupsScan groups({Grouping(By::kClass), Grouping(By::kSite), Grouping(By::kThread)});
  if (!tab.Run(&groups)) return "";
  return Html(TopReport(tab.scan(), groups.tables(), {.sort = "bytes", .limit = kRows}, *tab.tree(), "class or site"));
}

}  // namespace

using namespace render;

namespace {

List SentencesOf(const std::vector<Headline>& headlines) {
  List sentences;
  for (const Headline& one : headlines) {
    sentences.emplace_back(Object{{"id", one.id}, {"mood", MoodName(one.mood)}, {"text", one.text}});
  }
  return sentences;
}

// The facts of `heaprec summary --verbose`.
List FactsOf(const Group& summary) {
  List facts;
  for (const Section& section : summary.sections) {
    const auto* line = std::get_if<Line>(&section);
    if (line == nullptr || line->kind != Line::Kind::kFact || line->detail == Detail::kJsonOnly) continue;
    facts.emplace_back(List{line->heading, FormatLine(*line, true)});
  }
  return facts;
}

// The findings of `heaprec doctor`. Reads the recording to its end.
List FindingsOf(Recording* recording) {
  List findings;
  for (const Finding& one : Diagnose(recording)) {
    findings.emplace_back(Object{{"id", one.id},
                                 {"level", LevelName(one.level)},
                                 {"what", one.what},
                                 {"means", one.impact},
                                 {"do", one.action}});
  }
  return findings;
}

}  // namespace

Object PageFacts(const Recording& recording, const std::string& file, bool use_census,
                 const std::shared_ptr<MergedNames>& merged, const std::vector<Headline>& headlines) {
  Object page;
  if (!headlines.empty()) page.push_back({"headlines", SentencesOf(headlines)});
  auto again = recording.Again();
  if (!again.ok()) return page;
  Recording& one = **again;
  const ByRows by_rows = [interval_ns = one.header().interval_ns](const format::Block& block) {
    return TimeOf(block, interval_ns).has_value();
  };
  const CensusStrata census = use_census ? StrataOf(one, by_rows) : CensusStrata();
  VolumeOfBlocks blocks(one.header(), census.strata, by_rows);
  ClassSiteTotals breakdown({}, merged);
  Facts facts = FactsOf(&one, nullptr, &blocks, &breakdown, nullptr);
  facts.by_census = census;
  const TrustReport trust = AssessTrust(one, facts.totals, facts.volume);
  const Estimator estimator(blocks.design(), one.counters());
  const SummaryAnswer summary{
      one,       facts, trust, breakdown,
      estimator, 0,     false, file.empty() ? std::vector<FoundLeak>() : SearchLeaks(file, one.header())};
  page.push_back({"jvm", ToUtf8(one.header().jvm_name + " " + one.header().jvm_version)});
  page.push_back({"gc", ToUtf8(one.header().gc_name)});
  page.push_back({"start_epoch_ns", one.header().start_epoch_ns});
  page.push_back({"trustworthy", trust.reasons.empty()});
  page.push_back({"facts", FactsOf(SummaryReport(summary, ""))});
  if (headlines.empty()) {
    // The page may be opened on another machine, so the local folder is omitted.
    const std::string& path = one.source().name();
    Headlines all = HeadlinesOf(summary, path.substr(path.rfind('/') + 1));
    if (all.sentences.empty() && !trust.reasons.empty()) {  // a program without a JVM
      all.sentences.push_back({"trust", Mood::kWarning, "Trustworthy: " + TrustText(TextsOf(trust.reasons))});
    }
    page.push_back({"headlines", SentencesOf(all.sentences)});
    page.push_back({"next", Object{{"command", all.next_command}, {"reason", all.next_reason}}});
  }
  if (auto third = recording.Again(); third.ok()) page.push_back({"findings", FindingsOf(third->get())});
  return page;
}

std::map<std::string, std::string> PageTabs(const std::string& path, const format::FileHeader& header,
                                            render::Object* facts) {
  std::map<std::string, std::string> tabs;
  if (path == "-") return tabs;
  const auto add = [&tabs](const char* name, std::string html) {
    if (!html.empty()) tabs[name] += html;
  };
  add("why", WhyTab(path));
  if (HasHeap(header)) add("advice", AdviceTab(path));
  if (header.max_tracked_objects > 0) {
    add("live", LiveTab(path));
    add("leaks", LeaksTab(path));
    add("paths", PathsTab(path));
  }
  if (header.census != format::CensusMode::kOff) add("census", CensusTab(path));
  if (header.max_tracked_blocks > 0) add("native", BlocksPart(path, facts));
  if (header.max_tracked_mappings > 0) add("native", MappingsPart(path));
  add("native", CategoriesPart(path));
  if (header.exceptions.interval_ns > 0) add("exceptions", ExceptionsTab(path));
  return tabs;
}

}  // namespace heaprec::tools
