// heaprec live: shows live objects.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "tools/input/stream_traits.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Sorts ranges by their upper ends, and unknown values last.
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

LiveRow RowOf(std::string name, const LiveGroup& group, const LiveResult& live) {
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
  std::ranges::stable_sort(rows, {}, &LiveRow::name);
  std::ranges::stable_sort(rows, std::ranges::greater(), [&sort](const LiveRow& row) { return Measure(row, sort); });
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

Line OldLine(const LiveResult& live) {
  if (!live.knows_survivors) return Sentence("how much of it survived a collection is unknown");
  std::vector<LiveSample> old;
  std::ranges::copy_if(live.all.alive, std::back_inserter(old),
                       [](const LiveSample& one) { return one.survived >= 1; });
  return Sentence("{} of it survived a collection",
                  {{"", EstimateGroup(old, live.total, live.Unit()).bytes, Unit::kBytes}});
}

Line GrowthLine(const LiveResult& live) {
  const Slope growth = Growth::Of(live.all.growth[kWholeTime]);
  const bool is_collected = TraitsOf(live.stream).lifecycle.is_collected;
  if (!live.knows_growth()) return Sentence(std::string("growth: unknown, ") + WhyGrowthIsUnknown(live));
  if (!std::isfinite(growth.per_second.high)) {
    return Sentence(is_collected ? "growth: unknown (too few collections, or too few samples that survived one)"
                                 : "growth: unknown (too few samples, or too short a time)");
  }
  const Field rate{"", growth.per_second, Unit::kGrowth};
  if (!is_collected) return Sentence("live bytes grow by {}", {rate});
  if (live.moments.grown == 1) return Sentence("bytes that survived a collection grow by {}", {rate});
  return Sentence("bytes that survived {} collection(s) grow by {}", {{"", live.moments.grown, Unit::kInteger}, rate});
}

// "1.2 MiB live at 2.000 s in 3,000 objects, mean age 1.00 s"
std::vector<Line> Headline(const LiveResult& live) {
  const LifecycleTerms terms = TraitsOf(live.stream).lifecycle;
  if (!live.knows_survivors && live.moments.survived > 0) {
    return {Sentence(std::string("what survived {} collection(s) is unknown: ") + WhySurvivorsAreUnknown(live),
                     {{"", live.moments.survived, Unit::kInteger}})};
  }
  const LiveEstimates all = live.EstimateGroup(live.all.alive).estimates;
  const bool is_one = live.tracked == 1;
  const std::string when = is_one ? "at {}" : "at the ends of {} recording(s)";
  const Field time =
      is_one ? Field{"", live.moments.at_ns, Unit::kNanoseconds} : Field{"", uint64_t{live.tracked}, Unit::kInteger};
  if (IsUnknown(all.bytes)) {
    return {Sentence("{} sampled " + std::string(terms.things) + " live " + when +
                         "; how many bytes and objects they represent is unknown",
                     {{"", all.samples, Unit::kInteger}, time})};
  }
  Line line = Sentence("{} live " + when, {{"", all.bytes, Unit::kBytes}, time});
  const uint64_t least_ns = live.question.least_age_ns;
  if (least_ns > 0) line.Continue(" for {} or longer", {{"", least_ns, Unit::kNanoseconds}});
  const Value age = IsUnknown(all.mean_age_s) ? Value() : Value(all.mean_age_s.value);
  line.Continue(Survived(live.moments.survived))
      .Continue(std::string(" in {} ") + terms.things + ", mean age {}",
                {{"", all.objects, Unit::kCount}, {"", age, Unit::kSeconds}});
  std::vector<Line> lines{std::move(line)};
  if (terms.is_collected && live.moments.survived == 0) lines.push_back(OldLine(live));
  lines.push_back(GrowthLine(live));
  return lines;
}

}  // namespace

Report LiveObjectsReport(const LiveAnswer& answer) {
  const LiveResult& live = answer.live;
  Report report("heaprec.live/1");
  report.Add(LiveContext(answer));
  report.Add(Headline(live));
  report.Add(Hidden(LiveFields("live", RowOf("", live.all, live), live)));
  // An import has no detection limit, because it is unknown how much its recorder did not sample.
  const double unit = live.knows_history() ? live.Unit() : 0;
  report.Add(Hidden({{"detection_limit", unit > 0 ? Value(TotalInterval(0, 0, unit)) : Value(), Unit::kBytes},
                     {"instants_ns", live.tracked == 1 ? Value(live.instants) : Value(List())}}));
  for (const LiveTable& table : live.tables) report.Add(TableOf(table, answer));
  if (unit > 0) {
    report.Add(LimitLine("a group without live samples holds", TotalInterval(0, 0, unit), Unit::kBytes));
  }
  report.Add(LiveFooter(answer));
  return report;
}

// heaprec live --garbage: shows single objects that died.

namespace {

// Indices of the groupings.
enum { kClass, kThread, kStack };

struct TraceRow {
  DeadTrace trace;
  uint64_t died_at_ns = 0;  // since the start of the recording
  std::string class_name, thread;
  std::vector<std::string> frames;  // root first
};

std::vector<TraceRow> TraceRowsOf(const LiveAnswer& answer, bool newest) {
  std::vector<DeadTrace> traces = newest ? answer.live.newest_garbage : answer.live.sampled_garbage.kept();
  if (!newest) std::ranges::stable_sort(traces, {}, &DeadTrace::died_ns);
  std::vector<TraceRow> rows;
  for (const DeadTrace& trace : traces) {
    rows.push_back({trace, trace.died_ns - answer.live.start_epoch_ns, answer.tree.names().At(trace.keys[kClass]),
                    answer.tree.names().At(trace.keys[kThread]), FramesOf(trace.keys[kStack], answer.tree)});
  }
  return rows;
}

double SecondsOf(const TraceRow& row) { return static_cast<double>(row.trace.died_ns - row.trace.born_ns) * 1e-9; }

std::string NameOf(const TraceRow& row) {
  return row.class_name + "  " + (row.frames.empty() ? "[unknown]" : row.frames.back());
}

std::vector<Column<TraceRow>> TraceColumns(const LifecycleTerms& terms) {
  return {{"", std::string(terms.ended) + " at", Unit::kNanoseconds, Detail::kTextOnly, &TraceRow::died_at_ns},
          {"died_ns", "", Unit::kEpochNs, Detail::kJsonOnly, PartOf(&TraceRow::trace, &DeadTrace::died_ns)},
          {"born_ns", "", Unit::kEpochNs, Detail::kJsonOnly, PartOf(&TraceRow::trace, &DeadTrace::born_ns)},
          {"lifetime_seconds", "lifetime", Unit::kSeconds, Detail::kAlways, SecondsOf},
          {"survived", terms.is_collected ? "collections" : "", Unit::kInteger, Detail::kWide,
           PartOf(&TraceRow::trace, &DeadTrace::survived)},
          {"size", "size", Unit::kBytes, Detail::kAlways, PartOf(&TraceRow::trace, &DeadTrace::size)},
          {"weight_bytes", "weight", Unit::kBytes, Detail::kWide, PartOf(&TraceRow::trace, &DeadTrace::weight)},
          {"class", "", Unit::kText, Detail::kJsonOnly, &TraceRow::class_name},
          {"thread", "", Unit::kText, Detail::kJsonOnly, &TraceRow::thread},
          {"frames", "", Unit::kText, Detail::kJsonOnly, &TraceRow::frames},
          {"", terms.is_collected ? "class, allocated by" : "call, made by", Unit::kText, Detail::kTextOnly, NameOf}};
}

}  // namespace

Report GarbageReport(const LiveAnswer& answer, bool newest) {
  const LifecycleTerms terms = TraitsOf(answer.live.stream).lifecycle;
  std::vector<TraceRow> rows = TraceRowsOf(answer, newest);
  const size_t count = rows.size();
  Report report("heaprec.garbage/1");
  report.Add(LiveContext(answer));
  report.Add(Hidden({{"which", newest ? "recent" : "sample"}}));
  report.Add(
      Sentence("{} of {} sampled " + std::string(terms.things) + " that " + (terms.is_collected ? "" : "were ") +
                   terms.ended + ", " + (newest ? "newest first" : "chosen at random"),
               {{"", uint64_t{count}, Unit::kInteger}, {"died", answer.live.sampled_garbage.seen(), Unit::kInteger}}));
  if (answer.ranking.limit > 0 && count > answer.ranking.limit) rows.resize(answer.ranking.limit);
  report.Add(MakeTable("traces", TraceColumns(terms), rows, count));
  report.Add(LiveFooter(answer));
  return report;
}

// heaprec live --lifetimes: how long objects live.

namespace {

struct LifetimeRow {
  std::string name;
  const LiveGroup* group;
  std::vector<Survival> seconds, collections;
  MedianLifetime median;
  // Bytes that survived `question.promoted` collections; the share of what collections had to keep. nullopt: unknown.
  std::optional<Estimate> promoted_bytes, gc_share;
};

// Ages in seconds, if lifetimes do not depend on collections.
constexpr double kSoon = 1, kLate = 60;

// Returns nullopt if there was no collection that shows it.
std::optional<Estimate> DiesYoung(const LifetimeRow& row) {
  if (row.collections.empty()) return std::nullopt;
  const Estimate& first = row.collections.front().reached;
  return Estimate{1 - first.value, 1 - first.high, 1 - first.low};
}

// Returns the promoted share: 0 if the whole group died earlier.
std::optional<Estimate> Promoted(const LifetimeRow& row, uint64_t collections) {
  if (row.collections.empty()) return std::nullopt;
  const Survival& last = row.collections.back();
  if (row.collections.size() >= collections) return row.collections[collections - 1].reached;
  return last.reached.value > 0 ? Estimate{last.reached.value, 0, last.reached.high} : last.reached;
}

// If more than half reach all observed ages, shows the last age as a minimum.
Value MedianOf(const LifetimeRow& row) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (row.median.value) {
    return Interval{*row.median.value, row.median.low.value_or(*row.median.value), row.median.high.value_or(kInfinity)};
  }
  if (row.seconds.empty()) return nullptr;
  return Interval{std::numeric_limits<double>::quiet_NaN(), row.seconds.back().age, kInfinity};
}

LifetimeRow LifetimeRowOf(std::string name, const LiveGroup& group, const LiveResult& live) {
  LifetimeRow row{std::move(name), &group, {}, {}, {}, {}, {}};
  // Steps do not depend on the recording's length.
  row.seconds = AgeAxis::InSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
  if (TraitsOf(live.stream).lifecycle.is_collected && live.knows_survivors) {
    row.collections = AgeAxis::InCollections(group.collections.steps().size()).CurveOf(group.collections);
    const auto& steps = group.collections.steps();
    LiveTotal promoted;
    if (steps.size() >= live.question.promoted) {
      promoted.bytes = steps[live.question.promoted - 1].lived;
      promoted.variance = steps[live.question.promoted - 1].lived_squares;
    }
    const LiveTotal& whole = live.all.collections.kept();
    row.promoted_bytes = EstimateTotal(promoted, whole, live.heaviest).bytes;
    if (whole.bytes > 0) row.gc_share = EstimateTotal(group.collections.kept(), whole, live.heaviest).share;
  }
  row.median = AgeAxis::MedianOf(row.seconds);
  return row;
}

std::vector<LifetimeRow> LifetimeRowsOf(const LiveTable& table, const LiveAnswer& answer) {
  std::vector<LifetimeRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.lives == 0) continue;
    rows.push_back(LifetimeRowOf(table.grouping.NameOf(row.key, answer.tree), row.group, answer.live));
  }
  std::ranges::stable_sort(rows, {}, &LifetimeRow::name);
  const std::string& sort = answer.ranking.sort;
  if (sort != "name") {
    std::ranges::stable_sort(rows, std::ranges::greater(), [&sort](const LifetimeRow& row) {
      if (sort == "promoted") return row.promoted_bytes ? row.promoted_bytes->value : 0;
      if (sort == "gc") return row.gc_share ? row.gc_share->value : 0;
      return sort == "samples" ? static_cast<double>(row.group->lives) : row.group->born;
    });
  }
  if (answer.ranking.limit > 0 && rows.size() > answer.ranking.limit) rows.resize(answer.ranking.limit);
  return rows;
}

using Columns = std::vector<Column<LifetimeRow>>;

// Survival by collections or, without collections, by time.
void AddSurvival(const LiveResult& live, Columns* into) {
  const bool is_collected = TraitsOf(live.stream).lifecycle.is_collected;
  const uint64_t promoted = live.question.promoted;
  const auto reached = [](double age) {
    return [age](const LifetimeRow& row) { return AgeAxis::ReachedAt(row.seconds, age); };
  };
  into->push_back({"dies_young", is_collected ? "dies young" : "", Unit::kShare, Detail::kAlways, DiesYoung});
  into->push_back({"promoted", is_collected ? "survives " + std::to_string(promoted) : "", Unit::kShare,
                   Detail::kAlways, [promoted](const LifetimeRow& row) { return Promoted(row, promoted); }});
  into->push_back({"reaches_1_second", is_collected ? "" : "reach 1 s", Unit::kShare, Detail::kAlways, reached(kSoon)});
  into->push_back({"reaches_1_minute", is_collected ? "" : "reach 1 min", Unit::kShare, Detail::kWide, reached(kLate)});
}

void AddCurve(const std::string& name, const std::string& age, std::vector<Survival> LifetimeRow::*curve,
              Columns* into) {
  for (const auto& column : SurvivalColumns(age)) {
    into->push_back({name + "." + column.name, "", column.unit, Detail::kJsonOnly,
                     [get = column.get, curve](const LifetimeRow& row) { return get(row.*curve); }});
  }
}

// The curve as a picture: by collections if they find dead objects, otherwise by time.
Value CurveOf(const LifetimeRow& row) {
  const bool by_collections = !row.collections.empty();
  List points;
  for (const Survival& one : by_collections ? row.collections : row.seconds) {
    points.push_back(Object{{by_collections ? "collections" : "seconds", one.age}, {"reached", one.reached}});
  }
  return Value(std::move(points));
}

Columns LifetimeColumns(const LiveResult& live, const std::string& name) {
  Columns columns{{"median_lifetime_seconds", "median", Unit::kSeconds, Detail::kAlways, MedianOf, Detail::kAlways}};
  AddSurvival(live, &columns);
  const bool is_collected = TraitsOf(live.stream).lifecycle.is_collected;
  columns.push_back(
      {"promoted_bytes", is_collected ? "promoted" : "", Unit::kBytes, Detail::kAlways, &LifetimeRow::promoted_bytes});
  columns.push_back(
      {"gc_share", is_collected ? "kept by GC" : "", Unit::kShare, Detail::kAlways, &LifetimeRow::gc_share});
  columns.push_back({"allocated_bytes", "allocated", Unit::kBytes, Detail::kAlways,
                     [](const LifetimeRow& row) { return row.group->born; }});
  columns.push_back({"samples", is_collected ? "" : "samples", Unit::kInteger, Detail::kWide,
                     [](const LifetimeRow& row) { return row.group->lives; }});
  columns.push_back({"died", is_collected ? "" : TraitsOf(live.stream).lifecycle.ended, Unit::kInteger, Detail::kWide,
                     [](const LifetimeRow& row) { return row.group->died; }});
  AddCurve("survival_by_seconds", "seconds", &LifetimeRow::seconds, &columns);
  AddCurve("survival_by_collections", "collections", &LifetimeRow::collections, &columns);
  columns.push_back({"", "survival", Unit::kCurve, Detail::kHtmlOnly, CurveOf});
  columns.push_back({"name", name, Unit::kText, Detail::kAlways, &LifetimeRow::name});
  return columns;
}

std::vector<Line> Headline(const LiveResult& live, const LifetimeRow& all) {
  const LifecycleTerms terms = TraitsOf(live.stream).lifecycle;
  Line tracked =
      Sentence("{} sampled " + std::string(terms.things) + ", tracked ", {{"", live.all.lives, Unit::kInteger}});
  const Field median{"", MedianOf(all), Unit::kSeconds};
  if (!terms.is_collected) {
    return {tracked.Continue(std::string("until they were ") + terms.ended +
                             "; reach: the share of their bytes that live at least this long"),
            Sentence("all: median lifetime {}", {median})};
  }
  return {tracked.Continue("over ")
              .Continue(CollectionsOf(live, live.collections))
              .Continue("; dies young: dead at its first collection"),
          Sentence("all: median lifetime {}; {} die young, {} survive {} collection(s)",
                   {median,
                    {"", DiesYoung(all), Unit::kShare},
                    {"", Promoted(all, live.question.promoted), Unit::kShare},
                    {"promoted_after", live.question.promoted, Unit::kInteger}})};
}

}  // namespace

Report LifetimesReport(const LiveAnswer& answer) {
  const LiveResult& live = answer.live;
  const LifetimeRow all = LifetimeRowOf("[all]", live.all, live);
  Report report("heaprec.lifetimes/1");
  report.Add(LiveContext(answer));
  report.Add(Headline(live, all));
  report.Add(Hidden(FieldsOf("all", LifetimeColumns(live, ""), all)));
  for (const LiveTable& of : live.tables) {
    Table table =
        MakeTable("tables[]", LifetimeColumns(live, of.grouping.Text()), LifetimeRowsOf(of, answer), of.rows.size());
    table.fields = {{"by", of.grouping.Text()}};
    report.Add(std::move(table));
  }
  report.Add(LiveFooter(answer));
  return report;
}

}  // namespace heaprec::tools
