#include "tools/commands/native_categories.h"

#include <algorithm>
#include <vector>

#include "tools/analysis/totals/process_states.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/query/live/native_query.h"
#include "tools/report/native/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// Snapshots that text shows unless told, those at which sites are estimated, and sites.
constexpr size_t kShown = 6, kMaxWithSites = 200, kMaxSites = 8;

MemoryTimeline ReadTimeline(Recording* recording) {
  MemoryTimeline timeline;
  while (const auto block = recording->Next()) timeline.Add(*block);
  return timeline;
}

SiteTimeline SitesOf(const std::string& file, const std::vector<MemorySnapshot>& at) {
  std::vector<uint64_t> times;
  for (const MemorySnapshot& snapshot : at) times.push_back(snapshot.time_ns);
  return times.empty() ? SiteTimeline() : SitesAt(file, times, kMaxSites);
}

// `is_alone`: the file holds no other recording; sites of a file that holds several belong to none of them.
render::Group GroupOf(const Recording& recording, std::vector<MemorySnapshot> snapshots, const MemoryQuery& query,
                      bool is_alone) {
  render::Group group{"recordings[]", {}};
  group.Add(render::Hidden({{"header", HeaderValue(recording.header())}}));
  MemoryAnswer answer{std::move(snapshots), {}, {}, {}};
  // Instead of something else: --limit is for that.
  answer.shown =
      ChooseSnapshots(answer.snapshots, query.instead_of.empty() ? query.output.limit.value_or(kShown) : kShown);
  answer.with_sites = query.output.is_for_people() ? answer.shown : ChooseSnapshots(answer.snapshots, kMaxWithSites);
  if (is_alone && recording.header().max_tracked_blocks > 0) answer.sites = SitesOf(query.file, answer.with_sites);
  AddMemory(answer, &group);
  return group;
}

}  // namespace

ExitCode ShowMemory(const MemoryQuery& query) {
  const auto recordings = Recording::OpenAll(query.file);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  std::vector<MemoryTimeline> timelines;
  for (const auto& recording : *recordings) timelines.push_back(ReadTimeline(recording.get()));
  const bool is_asked_for = query.instead_of.empty();
  if (!is_asked_for && std::ranges::none_of(timelines, &MemoryTimeline::has_snapshots)) {
    PrintError(query.file + query.instead_of + "; record with nmt=10s for NMT categories, RSS and PSS");
    return ExitCode::kUnreadable;
  }
  render::Report report("heaprec.memory/1");
  if (!is_asked_for) {
    report.Add(render::Sentence("# {}", {{"", query.instead_of.substr(2)}}));  // behind a file: ": WHY"
    report.Add(render::Sentence("# so these are the JVM's and the kernel's numbers"));
  }
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings->size(); ++i) {
    const Recording& recording = *(*recordings)[i];
    const bool is_alone = recordings->size() == 1;
    if (!is_alone) report.Add(render::Sentence("{}", {{"", WhichText(recording.header(), i, recordings->size())}}));
    report.Add(GroupOf(recording, timelines[i].Snapshots(), query, is_alone));
    if (ReportDamage(recording) != ExitCode::kOk) read = ExitCode::kDamaged;
  }
  return render::Print(report, query.output, read);
}

}  // namespace heaprec::tools
