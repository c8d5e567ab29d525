// heaprec live --lifetimes: how long objects live.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tools/input/stream_traits.h"
#include "tools/report/live/live_report.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct LifetimeRow {
  std::string name;
  const LiveGroup* group;
  std::vector<Survival> seconds, collections;
  MedianLifetime median;
};

// Ages, in seconds, where no collection sets the pace.
constexpr double kSoon = 1, kLate = 60;

// nullopt: no collection was seen that tells.
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

// Where more than half reach all ages that were seen, at least the last of them.
Value MedianOf(const LifetimeRow& row) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (row.median.value) {
    return Interval{*row.median.value, row.median.low.value_or(*row.median.value), row.median.high.value_or(kInfinity)};
  }
  if (row.seconds.empty()) return nullptr;
  return Interval{std::numeric_limits<double>::quiet_NaN(), row.seconds.back().age, kInfinity};
}

LifetimeRow RowOf(std::string name, const LiveGroup& group, const LiveVisitor& live) {
  LifetimeRow row{std::move(name), &group, {}, {}, {}};
  // Steps are the same whatever the recording's length.
  row.seconds = AgeAxis::InSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
  if (TraitsOf(live.stream()).lifecycle.is_collected && live.knows_survivors()) {
    row.collections = AgeAxis::InCollections(group.collections.steps().size()).CurveOf(group.collections);
  }
  row.median = AgeAxis::MedianOf(row.seconds);
  return row;
}

std::vector<LifetimeRow> RowsOf(const LiveTable& table, const LiveAnswer& answer) {
  std::vector<LifetimeRow> rows;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.lives == 0) continue;
    rows.push_back(RowOf(table.grouping.NameOf(row.key, answer.tree), row.group, answer.live));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LifetimeRow& a, const LifetimeRow& b) {
    return a.group->born != b.group->born ? a.group->born > b.group->born : a.name < b.name;
  });
  if (answer.ranking.limit > 0 && rows.size() > answer.ranking.limit) rows.resize(answer.ranking.limit);
  return rows;
}

using Columns = std::vector<Column<LifetimeRow>>;

// What becomes of them: by collections, or by time where nothing is collected.
void AddSurvival(const LiveVisitor& live, Columns* into) {
  const bool is_collected = TraitsOf(live.stream()).lifecycle.is_collected;
  const uint64_t promoted = live.question().promoted;
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

// The curve as a picture: by collections where they tell what is dead, else by time.
Value CurveOf(const LifetimeRow& row) {
  const bool by_collections = !row.collections.empty();
  List points;
  for (const Survival& one : by_collections ? row.collections : row.seconds) {
    points.push_back(Object{{by_collections ? "collections" : "seconds", one.age}, {"reached", one.reached}});
  }
  return Value(std::move(points));
}

Columns LifetimeColumns(const LiveVisitor& live, const std::string& name) {
  Columns columns{
      {"median_lifetime_seconds", "median lifetime", Unit::kSeconds, Detail::kAlways, MedianOf, Detail::kAlways}};
  AddSurvival(live, &columns);
  columns.push_back({"allocated_bytes", "allocated", Unit::kBytes, Detail::kAlways,
                     [](const LifetimeRow& row) { return row.group->born; }});
  columns.push_back(
      {"samples", "samples", Unit::kInteger, Detail::kWide, [](const LifetimeRow& row) { return row.group->lives; }});
  columns.push_back({"died", TraitsOf(live.stream()).lifecycle.ended, Unit::kInteger, Detail::kWide,
                     [](const LifetimeRow& row) { return row.group->died; }});
  AddCurve("survival_by_seconds", "seconds", &LifetimeRow::seconds, &columns);
  AddCurve("survival_by_collections", "collections", &LifetimeRow::collections, &columns);
  columns.push_back({"", "survival", Unit::kCurve, Detail::kHtmlOnly, CurveOf});
  columns.push_back({"name", name, Unit::kText, Detail::kAlways, &LifetimeRow::name});
  return columns;
}

std::vector<render::Line> Headline(const LiveVisitor& live, const LifetimeRow& all) {
  const LifecycleTerms terms = TraitsOf(live.stream()).lifecycle;
  const std::string sampled = "{} sampled " + std::string(terms.things) + ", tracked ";
  std::vector<Field> fields{{"", live.all().lives, Unit::kInteger}};
  const Field median{"", MedianOf(all), Unit::kSeconds};
  if (!terms.is_collected) {
    return {Sentence(sampled + "until they were " + terms.ended +
                         "; reach: the share of their bytes that live at least this long",
                     fields),
            Sentence("all: median lifetime {}", {median})};
  }
  for (Field& field : CollectionsField(live)) fields.push_back(std::move(field));
  return {Sentence(sampled + "over " + CollectionsText(live) + "; dies young: dead at its first collection", fields),
          Sentence("all: median lifetime {}; {} die young, {} survive {} collection(s)",
                   {median,
                    {"", DiesYoung(all), Unit::kShare},
                    {"", Promoted(all, live.question().promoted), Unit::kShare},
                    {"promoted_after", live.question().promoted, Unit::kInteger}})};
}

}  // namespace

Report LifetimesReport(const LiveAnswer& answer) {
  const LiveVisitor& live = answer.live;
  const LifetimeRow all = RowOf("[all]", live.all(), live);
  Report report("heaprec.lifetimes/1");
  report.Add(LiveContext(answer));
  report.Add(Headline(live, all));
  report.Add(Hidden(FieldsOf("all", LifetimeColumns(live, ""), all)));
  for (const LiveTable& of : live.tables()) {
    Table table = MakeTable("tables[]", LifetimeColumns(live, of.grouping.Text()), RowsOf(of, answer), of.rows.size());
    table.fields = {{"by", of.grouping.Text()}};
    report.Add(std::move(table));
  }
  report.Add(LiveFooter(answer));
  return report;
}

}  // namespace heaprec::tools
