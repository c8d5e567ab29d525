#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/input/stream_traits.h"
#include "tools/query/live/live_query.h"
#include "tools/render/value_format.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct LeakRow {
  std::string name;
  const LiveGroup* group;
  Leak leak;
  std::optional<Estimate> since_s;
  LiveEstimates estimates;          // of survivors
  std::vector<std::string> frames;  // of a stack, root first
  std::vector<GroupPath> paths;
};

const Slope& GrowthOf(const LeakRow& row, GrowthSpan span = kWholeTime) { return row.leak.growth[span]; }

std::vector<LeakRow> RowsOf(const LiveAnswer& answer, double rate, const GroupPathVisitor* paths) {
  std::vector<LeakRow> rows;
  const Grouping& grouping = answer.live.tables.front().grouping;
  for (const TestedRow& one : TestRows(answer.live, rate)) {
    const LiveGroup& group = one.row->group;
    rows.push_back({grouping.NameOf(one.row->key, answer.tree),
                    &group,
                    one.leak,
                    one.since_s,
                    answer.live.EstimateGroup(group.alive).estimates,
                    {},
                    paths != nullptr ? paths->PathsOf(one.row->key) : std::vector<GroupPath>()});
    if (grouping.by() == By::kStack) rows.back().frames = FramesOf(one.row->key, answer.tree);
  }
  return rows;
}

size_t LeaksIn(const std::vector<LeakRow>& rows) {
  return static_cast<size_t>(std::ranges::count_if(rows, [](const LeakRow& row) { return row.leak.leaks; }));
}

// Returns the row with the largest growth that cannot be ruled out.
const LeakRow* LeastCertain(const std::vector<LeakRow>& rows) {
  const LeakRow* least = nullptr;
  for (const LeakRow& row : rows) {
    const double high = GrowthOf(row).per_second.high;
    if (row.leak.leaks || !std::isfinite(high)) continue;
    if (least == nullptr || high > GrowthOf(*least).per_second.high) least = &row;
  }
  return least;
}

std::vector<Column<LeakRow>> LeakColumns(const LiveAnswer& answer) {
  const LifecycleTerms terms = TraitsOf(answer.live.stream).lifecycle;
  const bool has_old_growth = answer.live.has_old_growth();
  const auto growth = [has_old_growth](auto Slope::*member, GrowthSpan span) {
    const bool is_known = span != kOldCollections || has_old_growth;
    return [=](const LeakRow& row) { return is_known ? Value(GrowthOf(row, span).*member) : Value(); };
  };
  const auto leak = [](auto Leak::*part) { return PartOf(&LeakRow::leak, part); };
  const auto live = [](auto LiveEstimates::*part) { return PartOf(&LeakRow::estimates, part); };
  const auto series = [](const LeakRow& row) { return row.group->growth[kWholeTime].bytes; };
  std::vector<Column<LeakRow>> columns{
      {"", "leak", Unit::kAlert, Detail::kTextOnly, [](const LeakRow& row) { return row.leak.leaks ? "LEAK" : "-"; }},
      {"leaks", "", Unit::kText, Detail::kJsonOnly, leak(&Leak::leaks)},
      {"growth", "growth", Unit::kGrowth, Detail::kAlways, growth(&Slope::per_second, kWholeTime), Detail::kAlways},
      {"growth.p", "", Unit::kProbability, Detail::kJsonOnly, growth(&Slope::p, kWholeTime)},
      {"bytes", "live", Unit::kBytes, Detail::kAlways, live(&LiveEstimates::bytes)},
      {"since_seconds", "grows since", Unit::kSeconds, Detail::kAlways, &LeakRow::since_s, Detail::kAlways},
      {"late_growth", "later half", Unit::kGrowth, Detail::kWide, growth(&Slope::per_second, kLaterHalf)},
      {"late_growth.p", "", Unit::kProbability, Detail::kJsonOnly, growth(&Slope::p, kLaterHalf)},
      {"old_growth", "old generation", Unit::kGrowth, has_old_growth ? Detail::kWide : Detail::kJsonOnly,
       growth(&Slope::per_second, kOldCollections)},
      {"old_growth.p", "", Unit::kProbability, Detail::kJsonOnly, growth(&Slope::p, kOldCollections)},
      {"objects", terms.things, Unit::kCount, Detail::kWide, live(&LiveEstimates::objects)},
      {"mean_age_seconds", "mean age", Unit::kSeconds, Detail::kWide, live(&LiveEstimates::mean_age_s)},
      {"median_age_seconds", "", Unit::kSeconds, Detail::kJsonOnly, live(&LiveEstimates::median_age_s)},
      {"mean_survived", "", Unit::kNumber, Detail::kJsonOnly, live(&LiveEstimates::mean_survived)},
      {"median_survived", "", Unit::kNumber, Detail::kJsonOnly, live(&LiveEstimates::median_survived)},
      {"share", "", Unit::kShare, Detail::kJsonOnly, live(&LiveEstimates::share)},
      {"samples", "", Unit::kInteger, Detail::kJsonOnly, live(&LiveEstimates::samples)},
      {"p", "", Unit::kProbability, Detail::kJsonOnly, leak(&Leak::p)},
      {"q", "q", Unit::kProbability, Detail::kWide, leak(&Leak::q)},
      {"series_bytes", "", Unit::kBytes, Detail::kJsonOnly, series},
      {"held_by", "", Unit::kText, Detail::kJsonOnly, [](const LeakRow& row) { return PathsValue(row.paths); }},
      {"held_by_share", "", Unit::kShare, Detail::kJsonOnly,
       [](const LeakRow& row) { return PathSharesValue(row.paths); }},
      {"", "over time", Unit::kSparkline, Detail::kHtmlOnly, series}};
  const Grouping& by = answer.live.tables.front().grouping;
  if (by.by() == By::kStack) columns.push_back({"frames", "", Unit::kText, Detail::kJsonOnly, &LeakRow::frames});
  columns.push_back({"name", by.Text(), Unit::kText, Detail::kAlways, &LeakRow::name});
  return columns;
}

// Says why no leak can be found.
Line TooShort(const LiveResult& live) {
  if (!live.knows_growth()) return Sentence(std::string("leaks are unknown: ") + WhyGrowthIsUnknown(live));
  if (!TraitsOf(live.stream).lifecycle.is_collected)
    return Sentence("no leak found: the time is too short to measure growth");
  return Sentence("no leak found: after ")
      .Continue(CollectionsOf(live, live.spanned_collections))
      .Continue(" growth cannot be distinguished from objects that were not yet collected");
}

std::vector<Line> Conclusion(const LiveAnswer& answer, const std::vector<LeakRow>& rows, double rate) {
  if (IsTooShort(answer.live)) return {TooShort(answer.live)};
  const std::string by = answer.live.tables.front().grouping.Text();
  const size_t leaks = LeaksIn(rows);
  Line verdict = Sentence("no leak found by " + by + ": no significant growth");
  if (leaks > 0) verdict = Sentence("{} leak(s) by " + by, {{"", leaks, Unit::kInteger}});
  verdict.Continue(", of {} with bytes", {{"", rows.size(), Unit::kInteger}})
      .Continue(Survived(answer.live.moments.grown))
      .Continue(" ({} of reported leaks may be false alarms)", {{"", rate, Unit::kShare}});
  std::vector<Line> lines{std::move(verdict)};
  const LeakRow* const least = leaks > 0 ? nullptr : LeastCertain(rows);
  if (least != nullptr) {
    lines.push_back(
        Sentence("largest growth that cannot be ruled out (95 %): {}, in {}",
                 {{"", std::max(0.0, GrowthOf(*least).per_second.high), Unit::kBytesPerSecond}, {"", least->name}}));
  }
  return lines;
}

Line Span(const LiveResult& live) {
  Line line = Sentence("measured from {} to {}",
                       {{"", live.moments.from_ns, Unit::kNanoseconds}, {"", live.moments.to_ns, Unit::kNanoseconds}});
  if (!TraitsOf(live.stream).lifecycle.is_collected) return line;
  line.Continue(", over ").Continue(CollectionsOf(live, live.spanned_collections));
  if (live.old_collections) line.Continue(", {} of the old generation", {{"", *live.old_collections, Unit::kInteger}});
  return line;
}

}  // namespace

Report LeaksReport(const LiveAnswer& answer, const LeakRanking& ranking, const GroupPathVisitor* paths) {
  const LiveResult& live = answer.live;
  std::vector<LeakRow> rows = RowsOf(answer, ranking.rate, paths);
  const size_t leaks = LeaksIn(rows), groups = rows.size();
  const auto known = [&live](uint64_t count) { return live.knows_growth() ? Value(count) : Value(); };
  Report report("heaprec.leaks/1");
  report.Add(LiveContext(answer));
  report.Add(Conclusion(answer, rows, ranking.rate));
  if (live.knows_growth()) report.Add(Span(live));
  report.Add(Hidden({{"by", live.tables.front().grouping.Text()},
                     {"fdr", ranking.rate, Unit::kShare},
                     {"count", known(groups), Unit::kInteger},
                     {"leaks", known(leaks), Unit::kInteger},
                     {"instants_ns", live.tracked == 1 ? Value(live.instants) : Value(List())}}));
  if (!ranking.all) rows.resize(leaks);
  const size_t candidates = rows.size();
  if (ranking.limit > 0 && candidates > ranking.limit) rows.resize(ranking.limit);
  Table table = MakeTable("rows", LeakColumns(answer), rows, candidates);
  for (size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].below = CallersOf(rows[i].frames);
    for (const auto& [path, share] : rows[i].paths)
      table.rows[i].below.push_back(FormatInline(share, Unit::kShare, true) + " held by " + path);
  }
  report.Add(std::move(table));
  report.Add(LiveFooter(answer));
  return report;
}

}  // namespace heaprec::tools
