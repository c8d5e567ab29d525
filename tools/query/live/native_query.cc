#include "tools/query/live/native_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "tools/analysis/health/trust.h"
#include "tools/input/native_table_file.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

LiveQuery GroupedBy(LiveQuery question, const Grouping& by) {
  question.by = {by};
  return question;
}

std::vector<Survival> SurvivalOf(const LiveGroup& group) {
  // Steps do not depend on the recording's length.
  return AgeAxis::InSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
}

constexpr std::string_view kReserve = "reserve", kCommit = "commit";

bool IsAddressSpace(std::string_view class_name) { return !class_name.starts_with(kCommit); }
bool MayBeTouched(std::string_view class_name) { return class_name != kReserve; }

// In the order of keys.
template <typename Row>
std::vector<Row> RowsOf(const std::map<uint32_t, Row>& by_key) {
  std::vector<Row> rows;
  for (const auto& [key, row] : by_key) rows.push_back(row), rows.back().key = key;
  return rows;
}

LiveEstimates AllOf(const LiveResult& live) { return EstimateGroup(live.all.alive, live.total, live.Unit()); }

SiteLine LineOf(std::string name, const LiveGroup& group, const std::vector<LiveTotal>& totals, double unit) {
  static const std::vector<LiveSample> kNobody;
  SiteLine line{std::move(name), {}};
  for (size_t i = 0; i < totals.size(); ++i) {
    const std::vector<LiveSample>& alive = i < group.series.size() ? group.series[i] : kNobody;
    // If nothing is live, uses the mean weight of times with live samples.
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

constexpr const char* kNoSite = "(no site)";

// "Parser::next [libparser.so]"
std::string InLibrary(const TableSymbolizer::Function& function) {
  return function.is_known ? fmt::format("{} [{}]", function.name, function.module) : function.name;
}

// Functions of C++ and HotSpot that allocate for their callers.
bool IsHelper(const std::string& name) {
  constexpr std::string_view kHelpers[] = {"os::malloc(", "os::realloc(", "os::strdup", "AllocateHeap(",
                                           "ReallocateHeap("};
  return name.find("operator new") != std::string::npos ||
         std::ranges::any_of(kHelpers, [&](std::string_view helper) { return name.starts_with(helper); });
}

// The frame after which the site is named: the first of the distinguishing frames that is not a helper.
size_t FirstOf(const NativePlace& place, const NativeTableFile& table, TableSymbolizer* symbols) {
  const size_t end = std::min<size_t>(place.pcs.size(), place.first + table.depth);
  size_t first = place.first;
  while (first + 1 < end && IsHelper(symbols->At(place.pcs[first], place.replaced).name)) ++first;
  return first;
}

std::string NameOf(const NativePlace& place, TableBy by, const NativeTableFile& table, TableSymbolizer* symbols) {
  if (place.pcs.empty()) return kNoSite;
  const uint64_t pc = place.pcs[FirstOf(place, table, symbols)];
  const TableSymbolizer::Function& function = symbols->At(pc, place.replaced);
  if (by == TableBy::kLibrary) return function.module;
  if (by == TableBy::kFunction) return InLibrary(function);
  const LoadedModule* const module = symbols->ModuleOf(pc, place.replaced);
  if (!function.is_known || module == nullptr) return InLibrary(function);
  return fmt::format("{} [{}+{:#x}]", function.name, function.module, pc - module->bias);
}

}  // namespace

NativeVisitor::NativeVisitor(const Grouping& by, LiveQuery question, CallTree* tree)
    : allocated_(by), live_(GroupedBy(std::move(question), by), tree, format::Stream::kNative) {}

void NativeVisitor::Begin(const format::FileHeader& header) {
  allocated_.Begin();
  live_.Begin(header);
  if (std::string refusal = RefusalOfNative(header); !refusal.empty()) refusal_ = std::move(refusal);
}

void NativeVisitor::Visit(const MatchedBlock& matched_block) {
  allocated_.Visit(matched_block);
  live_.Visit(matched_block);
}

void NativeVisitor::End(const Estimator& estimator, double seconds) {
  allocated_.End(estimator);
  live_.End(estimator, seconds);
}

std::vector<NativeVisitor::Row> NativeVisitor::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : allocated_.own().Rows()) rows[row.key].allocated = row.estimates;
  for (const LiveTable::Row& row : live().tables.front().rows) {
    Row& into = rows[row.key];
    into.live = EstimateGroup(row.group.alive, live().total, live().Unit());
    into.growth = Growth::Of(row.group.growth[kWholeTime]);
    into.survival = SurvivalOf(row.group);
  }
  return RowsOf(rows);
}

LiveEstimates NativeVisitor::AllAlive() const { return AllOf(live()); }

Slope NativeVisitor::AllGrowth() const { return Growth::Of(live().all.growth[kWholeTime]); }

std::vector<Survival> NativeVisitor::AllSurvival() const { return SurvivalOf(live().all); }

MappingVisitor::MappingVisitor(const Grouping& by, const LiveQuery& question, CallTree* tree)
    : mapped_(by),
      alive_(GroupedBy(question, by), tree, format::Stream::kMapping),
      reserved_(GroupedBy(question, by), tree, format::Stream::kMapping),
      committed_(GroupedBy(question, by), tree, format::Stream::kMapping) {}

void MappingVisitor::Begin(const format::FileHeader& header) {
  mapped_.Begin();
  for (LiveVisitor* const live : {&alive_, &reserved_, &committed_}) live->Begin(header);
}

void MappingVisitor::Visit(const MatchedBlock& matched_block) {
  mapped_.Visit(matched_block);
  alive_.Visit(matched_block);
  Show(matched_block, IsAddressSpace, &reserved_);
  Show(matched_block, MayBeTouched, &committed_);
}

void MappingVisitor::Show(const MatchedBlock& matched_block, Keeps keeps, LiveVisitor* to) {
  const auto is_kept = [&](const format::Sample& sample) {
    const bool has_class = sample.class_id != format::kNone;
    return keeps(has_class ? matched_block.block.dictionaries->classes[sample.class_id] : std::string_view());
  };
  std::vector<const WeightedSample*> drawn;
  for (const WeightedSample* const one : matched_block.drawn) {
    if (is_kept(matched_block.block.samples[one->index])) drawn.push_back(one);
  }
  std::vector<const format::CheckpointSample*> live_checkpoint;
  for (const format::CheckpointSample* const one : matched_block.live_checkpoint) {
    if (is_kept(one->sample)) live_checkpoint.push_back(one);
  }
  to->Visit({matched_block.block, drawn, live_checkpoint, matched_block.names, matched_block.tree, matched_block.design,
             matched_block.outside});
}

void MappingVisitor::End(const Estimator& estimator, double seconds) {
  mapped_.End(estimator);
  for (LiveVisitor* const live : {&alive_, &reserved_, &committed_}) live->End(estimator, seconds);
}

std::vector<MappingVisitor::Row> MappingVisitor::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : mapped_.own().Rows()) rows[row.key].mapped = row.estimates;
  const auto add = [&rows](const LiveResult& live, LiveEstimates Now::*estimates) {
    for (const LiveTable::Row& row : live.tables.front().rows) {
      rows[row.key].now.*estimates = EstimateGroup(row.group.alive, live.total, live.Unit());
    }
  };
  add(alive_.result(), &Now::alive);
  add(reserved_.result(), &Now::reserved);
  add(committed_.result(), &Now::committed);
  return RowsOf(rows);
}

MappingVisitor::Now MappingVisitor::All() const {
  return {AllOf(reserved_.result()), AllOf(committed_.result()), AllOf(alive_.result())};
}

SiteTimeline SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most) {
  FileScan scan(file, {"malloc"});
  LiveQuery question;
  question.by = {Grouping(By::kSite)};
  question.series = times;
  LiveVisitor visitor(std::move(question), scan.tree(), format::Stream::kNative);
  const LiveResult& live = visitor.result();
  if (!scan.Run(&visitor) || live.tracked == 0) return {};
  const std::vector<LiveTotal> totals = TotalsOf(live.all, times.size());
  const LiveTable& table = live.tables.front();
  SiteTimeline course{{}, scan.scan().summary().trust_reasons()};
  std::vector<SiteLine>& lines = course.lines;
  for (const LiveTable::Row& row : table.rows) {
    if (row.group.series.empty()) continue;
    lines.push_back(LineOf(table.grouping.NameOf(row.key, *scan.tree()), row.group, totals, live.Unit()));
  }
  std::ranges::stable_sort(lines, [](const SiteLine& a, const SiteLine& b) {
    return a.live.back().value != b.live.back().value ? a.live.back().value > b.live.back().value : a.name < b.name;
  });
  if (lines.size() > most) lines.resize(most);
  lines.insert(lines.begin(), LineOf("all sites", live.all, totals, live.Unit()));
  return course;
}

TableBy TableByOf(std::string_view word) {
  if (word == "site") return TableBy::kSite;
  return word == "function" ? TableBy::kFunction : TableBy::kLibrary;
}

std::vector<TableRow> TableRowsOf(const NativeTableFile& table, TableBy by, bool by_live) {
  TableSymbolizer symbols(table.modules);
  std::map<std::string, TableRow> rows;
  for (const NativePlace& place : table.places) {
    std::string name = ToUtf8(NameOf(place, by, table, &symbols));
    // Sites with the same name have different callers, if the table distinguishes them by several frames.
    std::string identity = name;
    std::vector<std::string> callers;
    if (by == TableBy::kSite) {
      for (size_t i = FirstOf(place, table, &symbols) + 1; i < place.pcs.size(); ++i) {
        callers.push_back(ToUtf8(InLibrary(symbols.At(place.pcs[i], place.replaced))));
        if (i < place.first + table.depth) identity += "\n" + callers.back();
      }
    }
    TableRow& row = rows[identity];
    if (row.name.empty()) row = {identity, std::move(name), std::move(callers), {}, {}};
    row.sums += place.sums;
  }
  std::vector<TableRow> sorted;
  for (auto& [identity, row] : rows) sorted.push_back(row);
  const auto size = [&](const TableRow& row) { return by_live ? row.sums.LiveBytes() : row.sums.allocated_bytes; };
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return sorted;
}

void CompareRows(const std::vector<TableRow>& before, std::vector<TableRow>* rows) {
  std::map<std::string, TableRow> gone;
  for (const TableRow& row : before) gone[row.identity] = row;
  for (TableRow& row : *rows) {
    const auto old = gone.find(row.identity);
    if (old == gone.end()) continue;
    row.before = old->second.sums;
    gone.erase(old);
  }
  for (auto& [identity, row] : gone) {
    row.before = std::exchange(row.sums, {});
    rows->push_back(row);
  }
  std::ranges::stable_sort(*rows, std::greater<>(), &TableRow::Growth);
}

std::string OverrunOf(const NativeTableFile& table) {
  TableSymbolizer symbols(table.modules);
  return ToUtf8(NameOf(table.first_overrun, TableBy::kSite, table, &symbols));
}

}  // namespace heaprec::tools
