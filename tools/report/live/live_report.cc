// heaprec live: what is live.
#include "tools/report/live/live_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/input/stream_traits.h"
#include "tools/report/columns/selection.h"
#include "tools/report/columns/stack_lines.h"

namespace heaprec::tools {

using namespace render;

namespace {

// What a row is sorted by: a range by its upper end. What is unknown comes last.
double SizeOf(const Estimate& estimate) { return IsRange(estimate) ? estimate.high : OrUnbounded(estimate).value; }

double Measure(const LiveRow& row, const std::string& sort) {
  const LiveEstimates& estimates = row.range.estimates;
  if (sort == "objects") return SizeOf(estimates.objects);
  if (sort == "growth") return row.growth.per_second.value;
  if (sort == "age") return OrUnbounded(estimates.mean_age_s).value;
  if (sort == "survived") return OrUnbounded(estimates.mean_survived).value;
  if (sort == "samples") return static_cast<double>(estimates.samples);
  return sort == "name" ? 0 : SizeOf(estimates.bytes);
}

LiveRow RowOf(std::string name, const LiveGroup& group, const LiveVisitor& live) {
  LiveRow row{std::move(name), live.EstimateGroup(group.alive), {}, {}, {}};
  if (!live.knows_growth()) return row;
  const GrowthSum& growth = group.growth[kWholeTime];
  row.growth = Growth::Of(growth);
  row.series = growth.bytes;
  return row;
}

// Returns the rows with live samples.
std::vector<LiveRow> RowsOf(const LiveTable& table, const LiveAnswer& answer) {
  std::vector<LiveRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.alive.empty()) continue;
    rows.push_back(RowOf(table.grouping.NameOf(row.key, answer.tree), row.group, answer.live));
    if (table.grouping.by() == By::kStack) rows.back().frames = FramesOf(row.key, answer.tree);
  }
  const std::string& sort = answer.ranking.sort;
  std::stable_sort(rows.begin(), rows.end(), [&sort](const LiveRow& a, const LiveRow& b) {
    const double of_a = Measure(a, sort), of_b = Measure(b, sort);
    return of_a != of_b ? of_a > of_b : a.name < b.name;
  });
  return rows;
}

Table TableOf(const LiveTable& of, const LiveAnswer& answer) {
  std::vector<LiveRow> rows = RowsOf(of, answer);
  const size_t count = rows.size();
  if (answer.ranking.limit > 0 && count > answer.ranking.limit) rows.resize(answer.ranking.limit);
  const bool has_frames = of.grouping.by() == By::kStack;
  Table table = MakeTable("tables[]", LiveColumns(answer.live, of.grouping.Text(), has_frames), rows, count);
  table.fields = {{"by", of.grouping.Text()}};
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].below = CallersOf(rows[i].frames);
  return table;
}

render::Line OldLine(const LiveVisitor& live) {
  if (!live.knows_survivors()) return Sentence("how much of it survived a collection is unknown");
  std::vector<LiveSample> old;
  std::copy_if(live.all().alive.begin(), live.all().alive.end(), std::back_inserter(old),
               [](const LiveSample& one) { return one.survived >= 1; });
  return Sentence("{} of it survived a collection",
                  {{"", EstimateGroup(old, live.total(), live.unit()).bytes, Unit::kBytes}});
}

render::Line GrowthLine(const LiveVisitor& live) {
  const Slope growth = Growth::Of(live.all().growth[kWholeTime]);
  const bool is_collected = TraitsOf(live.stream()).lifecycle.is_collected;
  if (!live.knows_growth()) return Sentence(std::string("growth: unknown, ") + WhyGrowthIsUnknown(live));
  if (!std::isfinite(growth.per_second.high)) {
    return Sentence(is_collected ? "growth: unknown (too few collections, or too few samples that survived one)"
                                 : "growth: unknown (too few samples, or too short a time)");
  }
  const Field rate{"", growth.per_second, Unit::kGrowth};
  if (!is_collected) return Sentence("live bytes grow by {}", {rate});
  if (live.grown() == 1) return Sentence("bytes that survived a collection grow by {}", {rate});
  return Sentence("bytes that survived {} collection(s) grow by {}", {{"", live.grown(), Unit::kInteger}, rate});
}

// "1.2 MiB live at 2.000 s in 3,000 objects, mean age 1.00 s"
std::vector<render::Line> Headline(const LiveVisitor& live) {
  const LifecycleTerms terms = TraitsOf(live.stream()).lifecycle;
  if (!live.knows_survivors() && live.survived() > 0) {
    return {Sentence(std::string("what survived {} collection(s) is unknown: ") + WhySurvivorsAreUnknown(live),
                     {{"", live.survived(), Unit::kInteger}})};
  }
  const LiveEstimates all = live.EstimateGroup(live.all().alive).estimates;
  const bool is_one = live.tracked() == 1;
  const std::string when = is_one ? "at {}" : "at the ends of {} recording(s)";
  const Field time =
      is_one ? Field{"", live.at_ns(), Unit::kNanoseconds} : Field{"", uint64_t{live.tracked()}, Unit::kInteger};
  if (IsUnknown(all.bytes)) {
    return {Sentence("{} sampled " + std::string(terms.things) + " live " + when +
                         "; how many bytes and objects they represent is unknown",
                     {{"", all.samples, Unit::kInteger}, time})};
  }
  std::vector<Field> fields{{"", all.bytes, Unit::kBytes}, time};
  std::string which = live.least_age_ns() > 0 ? " for {} or longer" : "";
  if (!which.empty()) fields.push_back({"", live.least_age_ns(), Unit::kNanoseconds});
  which += SurvivedText(live.survived());
  for (Field& field : SurvivedField(live.survived())) fields.push_back(std::move(field));
  fields.push_back({"", all.objects, Unit::kCount});
  fields.push_back({"", IsUnknown(all.mean_age_s) ? Value() : Value(all.mean_age_s.value), Unit::kSeconds});
  std::vector<render::Line> lines{
      Sentence("{} live " + when + which + " in {} " + terms.things + ", mean age {}", fields)};
  if (terms.is_collected && live.survived() == 0) lines.push_back(OldLine(live));
  lines.push_back(GrowthLine(live));
  return lines;
}

}  // namespace

Report LiveObjectsReport(const LiveAnswer& answer) {
  const LiveVisitor& live = answer.live;
  Report report("heaprec.live/1");
  report.Add(LiveContext(answer));
  report.Add(Headline(live));
  report.Add(Hidden(LiveFields("live", RowOf("", live.all(), live), live)));
  // An import has no detection limit, because it is unknown how much its recorder did not sample.
  const double unit = live.knows_history() ? live.unit() : 0;
  report.Add(Hidden({{"detection_limit", unit > 0 ? Value(TotalInterval(0, 0, unit)) : Value(), Unit::kBytes},
                     {"instants_ns", live.tracked() == 1 ? Value(live.instants()) : Value(List())}}));
  for (const LiveTable& table : live.tables()) report.Add(TableOf(table, answer));
  if (unit > 0) {
    report.Add(LimitLine("a group without live samples holds", TotalInterval(0, 0, unit), Unit::kBytes));
  }
  report.Add(LiveFooter(answer));
  return report;
}

}  // namespace heaprec::tools
