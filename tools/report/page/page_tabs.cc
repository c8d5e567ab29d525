#include "tools/report/page/page_tabs.h"

#include <utility>
#include <vector>

#include "tools/analysis/totals/process_states.h"
#include "tools/input/recording.h"
#include "tools/query/allocations/census_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/live/live_query.h"
#include "tools/query/live/native_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/renderers.h"
#include "tools/report/allocations/census_report.h"
#include "tools/report/allocations/top_report.h"
#include "tools/report/live/leaks_report.h"
#include "tools/report/live/live_report.h"
#include "tools/report/native/categories_report.h"
#include "tools/report/native/native_report.h"

namespace heaprec::tools {
namespace {

// Rows of each table, and snapshots of memory: a page is opened by people, and sent to them.
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
  if (!tab.Run(&live) || live.tracked() == 0) return "";
  const LiveAnswer answer{tab.scan(), live, *tab.tree(), {.sort = "bytes", .limit = kRows}};
  return "<h3>Live objects</h3>" + Html(LiveObjectsReport(answer)) + "<h3>Lifetimes</h3>" +
         Html(LifetimesReport(answer));
}

std::string LeaksTab(const std::string& path) {
  FileScan tab(path);
  LiveQuery question;
  question.by = Groupings{Grouping(By::kSite)};
  question.leaks = true;
  LiveVisitor live(std::move(question), tab.tree());
  if (!tab.Run(&live) || live.tracked() == 0) return "";
  return Html(LeaksReport({tab.scan(), live, *tab.tree(), {}}, {.limit = kRows, .all = true}));
}

std::string CensusTab(const std::string& path) {
  std::string html;
  for (const CensusBy by : {CensusBy::kClass, CensusBy::kThread}) {
    CensusChoice choice;
    choice.by = by;
    auto scan = CensusScan::Parse(choice);
    if (!scan.ok() || scan->Read(path) == ExitCode::kUnreadable) return "";
    html += Html(CensusReport(*scan, nullptr, {.sort = "bytes", .limit = kRows}));
  }
  return html;
}

std::string BlocksPart(const std::string& path, render::Object* facts) {
  FileScan tab(path, {"malloc"});
  NativeVisitor native(Grouping(By::kSite), {}, tab.tree());
  if (!tab.Run(&native) || native.live().tracked() == 0) return "";
  facts->push_back({"native_live", render::Object{{"ns", native.live().instants()},
                                                  {"bytes", native.live().all().growth[kWholeTime].bytes}}});
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
  while (const auto block = recording->front()->Next()) timeline.Add(*block);
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

std::map<std::string, std::string> PageTabs(const std::string& path, const format::FileHeader& header,
                                            render::Object* facts) {
  std::map<std::string, std::string> tabs;
  if (path == "-") return tabs;
  const auto add = [&tabs](const char* name, std::string html) {
    if (!html.empty()) tabs[name] += html;
  };
  if (header.max_tracked_objects > 0) {
    add("live", LiveTab(path));
    add("leaks", LeaksTab(path));
  }
  if (header.census != format::CensusMode::kOff) add("census", CensusTab(path));
  if (header.max_tracked_blocks > 0) add("native", BlocksPart(path, facts));
  if (header.max_tracked_mappings > 0) add("native", MappingsPart(path));
  add("native", CategoriesPart(path));
  if (header.exceptions.interval_ns > 0) add("exceptions", ExceptionsTab(path));
  return tabs;
}

}  // namespace heaprec::tools
