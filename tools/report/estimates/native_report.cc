#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/report/columns/group_columns.h"
#include "tools/report/columns/live_columns.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/text.h"

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
std::vector<std::string> CallersOfKey(uint32_t key, const Grouping& grouping, const CallTree& tree) {
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
                    CallersOfKey(ranked[i].key, grouping, answer.tree), seconds});
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
    rows.push_back({ranked[i], grouping.NameOf(key, answer.tree), CallersOfKey(key, grouping, answer.tree)});
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

using namespace render;

namespace {

NativeSums TotalOf(const NativeTableFile& table) {
  NativeSums total;
  for (const NativePlace& place : table.places) total += place.sums;
  return total;
}

// Returns unknown for live bytes and growth if calls were not counted: only a block's malloc or only its free
// may have been counted.
template <typename Get>
std::function<Value(const TableRow&)> IfCounted(uint64_t uncounted, Get get) {
  return [uncounted, get](const TableRow& row) { return uncounted == 0 ? Value(std::invoke(get, row)) : Value(); };
}

std::vector<Column<TableRow>> TableColumns(const TableAnswer& answer) {
  std::vector<Column<TableRow>> columns;
  if (answer.compared) {
    columns.push_back(
        {"growth_bytes", "growth", Unit::kByteChange, Detail::kAlways, IfCounted(answer.uncounted, &TableRow::Growth)});
    columns.push_back({"growth_blocks", "blocks", Unit::kCountChange, Detail::kWide,
                       IfCounted(answer.uncounted, &TableRow::BlockGrowth)});
  }
  const uint64_t uncounted = answer.table.without_shard;
  const std::string allocated = answer.compared ? "" : "allocated", blocks = answer.compared ? "" : "blocks allocated";
  columns.push_back({"live_bytes", "live", Unit::kBytes, Detail::kAlways,
                     IfCounted(uncounted, [](const TableRow& row) { return row.sums.LiveBytes(); })});
  columns.push_back({"live_blocks", "live blocks", Unit::kInteger, Detail::kWide,
                     IfCounted(uncounted, [](const TableRow& row) { return row.sums.LiveBlocks(); })});
  const auto sum = [](auto NativeSums::*of) { return PartOf(&TableRow::sums, of); };
  columns.push_back({"allocated_bytes", allocated, Unit::kBytes, Detail::kAlways, sum(&NativeSums::allocated_bytes)});
  columns.push_back({"allocated_blocks", blocks, Unit::kInteger, Detail::kWide, sum(&NativeSums::allocated_blocks)});
  columns.push_back({"freed_bytes", "", Unit::kBytes, Detail::kJsonOnly, sum(&NativeSums::freed_bytes)});
  columns.push_back({"freed_blocks", "", Unit::kInteger, Detail::kJsonOnly, sum(&NativeSums::freed_blocks)});
  columns.push_back({"callers", "", Unit::kText, Detail::kJsonOnly, &TableRow::callers});
  columns.push_back({"name", answer.by, Unit::kText, Detail::kAlways, &TableRow::name});
  return columns;
}

int64_t SizeOf(const TableRow& row, const TableAnswer& answer) {
  if (answer.compared) return row.Growth();
  return static_cast<int64_t>(answer.by_live ? row.sums.LiveBytes() : row.sums.allocated_bytes);
}

std::vector<std::string> ShownFrames(const TableRow& row, const TableAnswer& answer) {
  std::vector<std::string> frames{row.name};
  const size_t shown = std::min(answer.callers, row.callers.size());
  frames.insert(frames.end(), row.callers.begin(), row.callers.begin() + static_cast<ptrdiff_t>(shown));
  return frames;
}

// A table may distinguish sites by more frames than are shown: sites that look equal are one row, with their common
// callers.
std::vector<TableRow> ShownRows(const TableAnswer& answer) {
  std::vector<TableRow> rows;
  std::map<std::vector<std::string>, size_t> known;
  for (const TableRow& row : answer.rows) {
    const auto [found, is_new] = known.emplace(ShownFrames(row, answer), rows.size());
    if (is_new) {
      rows.push_back(row);
      continue;
    }
    TableRow& all = rows[found->second];
    all.sums += row.sums;
    all.before += row.before;
    all.callers.erase(std::ranges::mismatch(all.callers, row.callers).in1, all.callers.end());
  }
  std::ranges::stable_sort(rows, std::greater<>(), [&](const TableRow& row) { return SizeOf(row, answer); });
  return rows;
}

Line Headline(const NativeTableFile& table) {
  const NativeSums total = TotalOf(table);
  std::vector<Field> fields{{"total.allocated_bytes", total.allocated_bytes, Unit::kBytes},
                            {"total.allocated_blocks", total.allocated_blocks, Unit::kInteger},
                            {"pid", table.pid},
                            {"program", ToUtf8(table.program)},
                            {"total.freed_bytes", total.freed_bytes, Unit::kBytes},
                            {"total.freed_blocks", total.freed_blocks, Unit::kInteger}};
  std::string text = "at least {} allocated in {} block(s); process {}, {}, ";
  if (table.without_shard == 0) {
    text = "{} live in {} block(s), of {} allocated in {}; process {}, {}, ";
    fields.insert(fields.begin(), {{"total.live_bytes", total.LiveBytes(), Unit::kBytes},
                                   {"total.live_blocks", total.LiveBlocks(), Unit::kInteger}});
  } else {
    fields.insert(fields.end(), {{"total.live_bytes", Value(), Unit::kBytes}, {"total.live_blocks", Value()}});
  }
  return Sentence(text + (table.has_ended ? "when it ended" : "which runs or was killed"), std::move(fields));
}

void AddOverruns(const NativeTableFile& table, Report* report) {
  const Field overruns{"overruns", table.overruns, Unit::kInteger};
  if (table.overruns > 0) {
    report->Add(Sentence("{} block(s) were written past their end, the first one allocated by {}",
                         {overruns, {"first_overrun", OverrunOf(table)}}));
  } else if (table.checks) {
    report->Add(Sentence("no block was written past its end", {overruns}));
  }
}

}  // namespace

Report NativeTableReport(const TableAnswer& answer) {
  const NativeTableFile& table = answer.table;
  std::vector<TableRow> rows = ShownRows(answer);
  const uint64_t count = rows.size();
  if (answer.limit > 0 && count > answer.limit) rows.resize(answer.limit);
  Report report("heaprec.native/1");
  report.Add(Headline(table));
  report.Add(Hidden({{"ended", table.has_ended},
                     {"start_ns", table.start_epoch_ns, Unit::kEpochNs},
                     {"depth", table.depth},
                     {"exact", answer.uncounted == 0},
                     {"sites", table.sites},
                     {"by", answer.by},
                     {"count", count, Unit::kInteger}}));
  Table shown_table = MakeTable("rows", TableColumns(answer), rows, count);
  for (size_t i = 0; i < rows.size(); ++i) {
    shown_table.rows[i].below = rows[i].callers;
    if (shown_table.rows[i].below.size() > answer.callers) shown_table.rows[i].below.resize(answer.callers);
  }
  report.Add(std::move(shown_table));
  AddOverruns(table, &report);
  report.Add(Sentence(kRequested));
  if (answer.uncounted > 0) {
    report.Add(
        Sentence("# trustworthy: no, because there was no memory to count {} call(s): live bytes are unknown, and "
                 "other sums are lower limits",
                 {{"", answer.uncounted, Unit::kInteger}}));
  }
  report.Add(Sentence(std::string(answer.uncounted == 0 ? "# exact; " : "# ") +
                          "not counted: {} block(s) ({}) allocated before the start, {} call(s) (out of memory), {} "
                          "frees of blocks that other allocators made",
                      {{"before_start.blocks", table.early_blocks, Unit::kInteger},
                       {"before_start.bytes", table.early_bytes, Unit::kBytes},
                       {"calls_not_counted", table.without_shard, Unit::kInteger},
                       {"foreign_frees", table.foreign_frees, Unit::kInteger}}));
  return report;
}

}  // namespace heaprec::tools
