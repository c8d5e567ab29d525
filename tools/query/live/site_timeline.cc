#include "tools/query/live/site_timeline.h"

#include <algorithm>
#include <utility>

#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {
namespace {

SiteLine LineOf(std::string name, const LiveGroup& group, const std::vector<LiveTotal>& totals, double unit) {
  static const std::vector<LiveSample> kNobody;
  SiteLine line{std::move(name), {}};
  for (size_t i = 0; i < totals.size(); ++i) {
    const std::vector<LiveSample>& alive = i < group.series.size() ? group.series[i] : kNobody;
    // If nothing is live, uses the unit of times with live samples.
    line.live.push_back(EstimateGroup(alive, totals[i], totals[i].bytes > 0 ? totals[i].Unit() : unit).bytes);
  }
  return line;
}

std::vector<LiveTotal> TotalsOf(const LiveGroup& all, size_t times) {
  std::vector<LiveTotal> totals(times);
  for (size_t i = 0; i < all.series.size(); ++i) {
    for (const LiveSample& one : all.series[i]) totals[i].Add(one);
  }
  return totals;
}

}  // namespace

SiteTimeline SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most) {
  FileScan scan(file, {"malloc"});
  LiveQuery question;
  question.by = {Grouping(By::kSite)};
  question.series = times;
  LiveVisitor live(std::move(question), scan.tree(), format::Stream::kNative);
  if (!scan.Run(&live) || live.tracked() == 0) return {};
  const std::vector<LiveTotal> totals = TotalsOf(live.all(), times.size());
  const LiveTable& table = live.tables().front();
  SiteTimeline course{{}, scan.scan().trust_reasons()};
  std::vector<SiteLine>& lines = course.lines;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.series.empty()) continue;
    lines.push_back(LineOf(table.grouping.NameOf(row.key, *scan.tree()), row.group, totals, live.unit()));
  }
  std::ranges::stable_sort(lines, [](const SiteLine& a, const SiteLine& b) {
    return a.live.back().value != b.live.back().value ? a.live.back().value > b.live.back().value : a.name < b.name;
  });
  if (lines.size() > most) lines.resize(most);
  lines.insert(lines.begin(), LineOf("all sites", live.all(), totals, live.unit()));
  return course;
}

}  // namespace heaprec::tools
