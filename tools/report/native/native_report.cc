#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tools/report/columns/live_columns.h"
#include "tools/report/columns/selection.h"
#include "tools/report/native/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

constexpr int kSurvivalPoints = 8;
constexpr double kFirstAge = 0.01;

struct NativeRow {
  NativeVisitor::Row of;
  std::string name;
  std::vector<std::string> callers;  // innermost first
  double seconds = 0;                // duration of the recording
};

bool IsByAge(const NativeAnswer& answer) { return answer.min_age_ns > 0; }
double Measure(const NativeVisitor::Row& row, bool by_live) {
  return by_live ? row.live.bytes.value : row.allocated.bytes.value;
}
double SecondsOf(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Returns the rows, largest first. With a minimum age, omits rows without live bytes.
std::vector<NativeVisitor::Row> Ranked(const NativeAnswer& answer) {
  std::vector<NativeVisitor::Row> rows = answer.native.Rows();
  if (IsByAge(answer)) std::erase_if(rows, [](const auto& row) { return row.live.bytes.value == 0; });
  std::ranges::stable_sort(rows, [&](const auto& a, const auto& b) {
    const double of_a = Measure(a, answer.by_live), of_b = Measure(b, answer.by_live);
    return of_a != of_b ? of_a > of_b : Measure(a, !answer.by_live) > Measure(b, !answer.by_live);
  });
  return rows;
}

// Returns the callers of a stack's leaf, innermost first; none for other rows.
std::vector<std::string> CallersOf(uint32_t key, const Grouping& grouping, const CallTree& tree) {
  if (grouping.by() != By::kStack) return {};
  return CallersOf(FramesOf(key, tree));
}

std::vector<std::string> Below(std::vector<std::string> callers, size_t most) {
  if (callers.size() > most) callers.resize(most);
  return callers;
}

// The shares that reach ages from 10 ms to `longest_s`, in geometric steps.
Value SurvivalLine(const std::vector<Survival>& curve, double longest_s) {
  List shares;
  for (int i = 0; i < kSurvivalPoints; ++i) {
    const double age = kFirstAge * std::pow(std::max(longest_s / kFirstAge, 1.0), i / (kSurvivalPoints - 1.0));
    const auto reached = AgeAxis::ReachedAt(curve, age);
    if (!reached) break;
    shares.emplace_back(reached->value);
  }
  return shares;
}

double LongestSeconds(const NativeAnswer& answer) {
  return SecondsOf(answer.native.live().moments.to_ns - answer.native.live().moments.from_ns);
}

using Columns = std::vector<Column<NativeRow>>;

auto Live(auto LiveEstimates::*member) {
  return [=](const NativeRow& row) -> Value { return row.of.live.*member; };
}
auto Allocated(auto GroupEstimates::*member) {
  return [=](const NativeRow& row) -> Value { return row.of.allocated.*member; };
}

Columns EstimateColumns() {
  const auto growth = [](auto Slope::*member) {
    return [=](const NativeRow& row) -> Value { return row.of.growth.*member; };
  };
  return {{"live.bytes", "live", Unit::kBytes, Detail::kAlways, Live(&LiveEstimates::bytes), Detail::kAlways},
          {"live.growth", "growth", Unit::kGrowth, Detail::kAlways, growth(&Slope::per_second)},
          {"live.growth.p", "", Unit::kProbability, Detail::kJsonOnly, growth(&Slope::p)},
          {"allocated.bytes", "allocated", Unit::kBytes, Detail::kAlways, Allocated(&GroupEstimates::bytes)},
          {"live.objects", "blocks", Unit::kCount, Detail::kWide, Live(&LiveEstimates::objects)},
          {"live.mean_age_seconds", "mean age", Unit::kSeconds, Detail::kWide, Live(&LiveEstimates::mean_age_s)},
          {"live.median_age_seconds", "", Unit::kSeconds, Detail::kJsonOnly, Live(&LiveEstimates::median_age_s)},
          {"live.share", "", Unit::kShare, Detail::kJsonOnly, Live(&LiveEstimates::share)},
          {"live.samples", "", Unit::kInteger, Detail::kJsonOnly, Live(&LiveEstimates::samples)},
          {"allocated.objects", "blocks allocated", Unit::kCount, Detail::kWide, Allocated(&GroupEstimates::objects)},
          {"allocated.share", "", Unit::kShare, Detail::kJsonOnly, Allocated(&GroupEstimates::share)},
          {"allocated.mean_size", "", Unit::kBytes, Detail::kJsonOnly, Allocated(&GroupEstimates::mean_size)},
          {"allocated.bytes_per_second", "", Unit::kBytesPerSecond, Detail::kJsonOnly,
           [](const NativeRow& row) {
             return row.seconds > 0 ? Value(Scaled(row.of.allocated.bytes, 1 / row.seconds)) : Value();
           }},
          {"allocated.samples", "", Unit::kInteger, Detail::kJsonOnly, Allocated(&GroupEstimates::samples)}};
}

void AddSurvival(const NativeAnswer& answer, Columns* into) {
  const double age_s = SecondsOf(answer.min_age_ns), longest_s = LongestSeconds(answer);
  into->push_back({"reaches_min_age", "reach min age", Unit::kShare, Detail::kWide,
                   [age_s](const NativeRow& row) { return AgeAxis::ReachedAt(row.of.survival, age_s); }});
  into->push_back({"", "survival", Unit::kSparkline, Detail::kTextOnly,
                   [longest_s](const NativeRow& row) { return SurvivalLine(row.of.survival, longest_s); }});
  for (const auto& column : SurvivalColumns("seconds")) {
    into->push_back({"survival_by_seconds." + column.name, "", column.unit, Detail::kJsonOnly,
                     [get = column.get](const NativeRow& row) { return get(row.of.survival); }});
  }
}

Columns NativeColumns(const NativeAnswer& answer) {
  Columns columns = EstimateColumns();
  if (IsByAge(answer)) AddSurvival(answer, &columns);
  if (answer.native.grouping().by() == By::kStack) {
    columns.push_back({"callers", "", Unit::kText, Detail::kJsonOnly, &NativeRow::callers});
  }
  columns.push_back({"name", answer.native.grouping().Text(), Unit::kText, Detail::kAlways, &NativeRow::name});
  return columns;
}

NativeRow Total(const NativeAnswer& answer) {
  NativeRow all{{.key = 0,
                 .allocated = answer.scan.matched(),
                 .live = answer.native.AllAlive(),
                 .growth = answer.native.AllGrowth(),
                 .survival = {}},
                "",
                {},
                answer.scan.summary().scanned().seconds};
  if (IsByAge(answer)) all.of.survival = answer.native.AllSurvival();
  return all;
}

std::vector<Line> Headline(const NativeAnswer& answer, const NativeRow& all) {
  Line live = Sentence("{} live", {{"", all.of.live.bytes, Unit::kBytes}});
  if (IsByAge(answer)) {
    live.Continue(" for {} or longer", {{"min_age_ns", answer.min_age_ns, Unit::kNanoseconds}});
  }
  live.Continue(" in {} block(s), of {} allocated in {} block(s) in {}",
                {{"", all.of.live.objects, Unit::kCount},
                 {"", all.of.allocated.bytes, Unit::kBytes},
                 {"", all.of.allocated.objects, Unit::kCount},
                 {"", static_cast<uint64_t>(all.seconds * 1e9), Unit::kNanoseconds}});
  std::vector<Line> lines{std::move(live)};
  if (std::isfinite(all.of.growth.per_second.high)) {
    lines.push_back(Sentence("all live bytes grow by {}", {{"", all.of.growth.per_second, Unit::kGrowth}}));
  }
  return lines;
}

}  // namespace

Report NativeReport(const NativeAnswer& answer) {
  const std::vector<NativeVisitor::Row> ranked = Ranked(answer);
  const Grouping& grouping = answer.native.grouping();
  const double seconds = answer.scan.summary().scanned().seconds;
  const size_t shown = answer.limit > 0 ? std::min(answer.limit, ranked.size()) : ranked.size();
  std::vector<NativeRow> rows;
  for (size_t i = 0; i < shown; ++i) {
    rows.push_back({ranked[i], grouping.NameOf(ranked[i].key, answer.tree),
                    CallersOf(ranked[i].key, grouping, answer.tree), seconds});
  }
  const NativeRow all = Total(answer);
  Columns columns = NativeColumns(answer);
  Report report("heaprec.native_sampled/1");
  report.Add(Headline(answer, all));
  report.Add(Hidden({{"scan", answer.scan.summary().AsObject()},
                     {"exact", false},
                     {"at_ns", answer.native.live().moments.at_ns, Unit::kNanoseconds},
                     {"by", grouping.Text()},
                     {"count", uint64_t{ranked.size()}, Unit::kInteger}}));
  Table table = MakeTable("rows", columns, rows, ranked.size());
  table.empty = IsByAge(answer) ? "no live block is that old" : "no native samples";
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].below = Below(rows[i].callers, answer.callers);
  for (const Column<NativeRow>& column : columns) {
    if (!column.name.empty() && column.name != "name" && column.name != "callers") {
      report.Add(Hidden({{column.name, column.get(all), column.unit}}));
    }
  }
  report.Add(std::move(table));
  if (IsByAge(answer) && !rows.empty()) {
    report.Add(Sentence("survival: share of the allocated bytes that live for 10 ms to {}",
                        {{"", LongestSeconds(answer), Unit::kSeconds}}));
  }
  if (!answer.native.refusal().empty()) {
    report.Add(Sentence("{}", {{"unavailable_reason", answer.native.refusal()}}));
  }
  report.Add(Sentence(kRequested));
  report.Add(LimitLine("a " + grouping.Text() + " without samples allocated", answer.scan.unseen().bytes, Unit::kBytes,
                       "detection_limit.bytes"));
  report.Add(LossLines(answer.scan));
  return report;
}

// The mappings of a recording, below its blocks.

namespace {

struct MappingRow {
  MappingVisitor::Row of;
  std::string name;
  std::vector<std::string> callers;  // innermost first
};

// Orders by accessible bytes, then by address space.
std::vector<MappingVisitor::Row> Ranked(const MappingVisitor& mappings) {
  std::vector<MappingVisitor::Row> rows = mappings.Rows();
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) {
    return std::array{row.now.committed.bytes.value, row.now.reserved.bytes.value, row.mapped.bytes.value};
  });
  return rows;
}

std::vector<Column<MappingRow>> MappingColumns(const MappingAnswer& answer) {
  const auto mapped = [](auto GroupEstimates::*member) {
    return [=](const MappingRow& row) -> Value { return row.of.mapped.*member; };
  };
  std::vector<Column<MappingRow>> columns{
      {"committed", "committed", Unit::kBytes, Detail::kAlways,
       [](const MappingRow& row) { return row.of.now.committed.bytes; }, Detail::kAlways},
      {"reserved", "reserved", Unit::kBytes, Detail::kAlways,
       [](const MappingRow& row) { return row.of.now.reserved.bytes; }},
      {"mappings", "mappings", Unit::kCount, Detail::kAlways,
       [](const MappingRow& row) { return row.of.now.alive.objects; }},
      {"mapped.bytes", "mapped", Unit::kBytes, Detail::kWide, mapped(&GroupEstimates::bytes)},
      {"mapped.objects", "calls", Unit::kCount, Detail::kWide, mapped(&GroupEstimates::objects)},
      {"mapped.share", "", Unit::kShare, Detail::kJsonOnly, mapped(&GroupEstimates::share)},
      {"mapped.samples", "", Unit::kInteger, Detail::kJsonOnly, mapped(&GroupEstimates::samples)}};
  const Grouping& grouping = answer.mappings.grouping();
  if (grouping.by() == By::kStack) {
    columns.push_back({"callers", "", Unit::kText, Detail::kJsonOnly, &MappingRow::callers});
  }
  columns.push_back({"name", grouping.Text(), Unit::kText, Detail::kAlways, &MappingRow::name});
  return columns;
}

}  // namespace

void AddMappings(const MappingAnswer& answer, Report* report) {
  const std::vector<MappingVisitor::Row> ranked = Ranked(answer.mappings);
  const size_t shown = answer.limit > 0 ? std::min(answer.limit, ranked.size()) : ranked.size();
  std::vector<MappingRow> rows;
  const Grouping& grouping = answer.mappings.grouping();
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t key = ranked[i].key;
    rows.push_back({ranked[i], grouping.NameOf(key, answer.tree), CallersOf(key, grouping, answer.tree)});
  }
  const MappingVisitor::Now all = answer.mappings.All();
  const bool is_shown = !ranked.empty() || answer.scan.summary().scanned().lost > 0;
  const GroupEstimates mapped = answer.scan.matched();
  Group group{"mmap", {}};
  Line headline = Sentence("\nmappings: {} reserved, {} committed, in {} mapping(s)",
                           {{"reserved", all.reserved.bytes, Unit::kBytes},
                            {"committed", all.committed.bytes, Unit::kBytes},
                            {"mappings", all.alive.objects, Unit::kCount}});
  if (!is_shown) headline.detail = Detail::kJsonOnly;
  group.Add(std::move(headline));
  group.Add(Hidden({{"at_ns", answer.mappings.at_ns(), Unit::kNanoseconds},
                    {"mapped.bytes", mapped.bytes, Unit::kBytes},
                    {"mapped.objects", mapped.objects, Unit::kCount},
                    {"mapped.samples", mapped.samples, Unit::kInteger},
                    {"trustworthy", answer.scan.summary().trust_reasons().empty()},
                    {"reasons", answer.scan.summary().trust_reasons()},
                    {"count", uint64_t{ranked.size()}, Unit::kInteger}}));
  Table table = MakeTable("rows", MappingColumns(answer), rows, ranked.size());
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].below = Below(rows[i].callers, answer.callers);
  group.Add(std::move(table));
  if (is_shown) group.Add(LossLines(answer.scan));
  report->Add(std::move(group));
}

}  // namespace heaprec::tools
