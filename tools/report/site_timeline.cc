#include "tools/report/site_timeline.h"

#include <algorithm>
#include <utility>

#include "tools/query/live_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {
namespace {

SiteLine LineOf(std::string name, const LiveGroup& group, const std::vector<LiveTotal>& totals, double unit) {
  static const std::vector<Alive> kNobody;
  SiteLine line{std::move(name), {}};
  for (size_t i = 0; i < totals.size(); ++i) {
    const std::vector<Alive>& alive = i < group.course.size() ? group.course[i] : kNobody;
    // Of nothing, as much as a sample stands for where there is one.
    line.live.push_back(FiguresOf(alive, totals[i], totals[i].bytes > 0 ? totals[i].Unit() : unit).bytes);
  }
  return line;
}

std::vector<LiveTotal> TotalsOf(const LiveGroup& all, size_t times) {
  std::vector<LiveTotal> totals(times);
  for (size_t i = 0; i < all.course.size(); ++i) {
    for (const Alive& one : all.course[i]) totals[i].Add(one);
  }
  return totals;
}

}  // namespace

SiteCourse SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most) {
  SurveyOptions options;
  options.files = {file};
  options.filter.kinds = {"native"};
  auto survey = Survey::Parse(options);
  if (!survey.ok()) return {};
  survey->BeQuiet();
  NamePool names;
  CallTree tree(&names, survey->TreeOptions());
  LiveQuestion question;
  question.by = {Grouping(By::kSite)};
  question.course = times;
  LiveSurvey live(std::move(question), &tree, format::Stream::kNative);
  if (survey->Run(&tree, &live) == ExitCode::kUnreadable || live.followed() == 0) return {};
  const std::vector<LiveTotal> totals = TotalsOf(live.all(), times.size());
  const LiveTable& table = live.tables().front();
  SiteCourse course{{}, survey->doubts()};
  std::vector<SiteLine>& lines = course.lines;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.course.empty()) continue;
    lines.push_back(LineOf(table.grouping.NameOf(row.key, tree), row.group, totals, live.unit()));
  }
  std::ranges::stable_sort(lines, [](const SiteLine& a, const SiteLine& b) {
    return a.live.back().value != b.live.back().value ? a.live.back().value > b.live.back().value : a.name < b.name;
  });
  if (lines.size() > most) lines.resize(most);
  lines.insert(lines.begin(), LineOf("all sites", live.all(), totals, live.unit()));
  return course;
}

}  // namespace heaprec::tools
