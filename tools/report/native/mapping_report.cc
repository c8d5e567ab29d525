// The mappings of a recording, below its blocks.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tools/report/columns/live_columns.h"
#include "tools/report/columns/selection.h"
#include "tools/report/native/native_report.h"

namespace heaprec::tools {

using namespace render;

namespace {

struct MappingRow {
  MappingVisitor::Row of;
  std::string name;
  std::vector<std::string> callers;  // the innermost first
};

// By what may be touched, then by address space.
std::vector<MappingVisitor::Row> Ranked(const MappingVisitor& mappings) {
  std::vector<MappingVisitor::Row> rows = mappings.Rows();
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) {
    return std::array{row.now.committed.bytes.value, row.now.reserved.bytes.value, row.mapped.bytes.value};
  });
  return rows;
}

// Returns the callers of a stack's leaf, innermost first.
std::vector<std::string> CallersOf(uint32_t key, const MappingAnswer& answer) {
  std::vector<std::string> callers;
  if (answer.mappings.grouping().by() != By::kStack) return callers;
  for (auto node = answer.tree.At(key).parent; node != CallTree::kRoot; node = answer.tree.At(node).parent) {
    callers.emplace_back(answer.tree.NameOf(node));
  }
  return callers;
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
  for (size_t i = 0; i < shown; ++i) {
    rows.push_back(
        {ranked[i], answer.mappings.grouping().NameOf(ranked[i].key, answer.tree), CallersOf(ranked[i].key, answer)});
  }
  const MappingVisitor::Now all = answer.mappings.All();
  const bool is_shown = !ranked.empty() || answer.scan.scanned().lost > 0;
  const GroupEstimates mapped = answer.scan.matched();
  Group group{"mmap", {}};
  render::Line headline = Sentence("\nmappings: {} reserved, {} committed, in {} mapping(s)",
                                   {{"reserved", all.reserved.bytes, Unit::kBytes},
                                    {"committed", all.committed.bytes, Unit::kBytes},
                                    {"mappings", all.alive.objects, Unit::kCount}});
  if (!is_shown) headline.detail = Detail::kJsonOnly;
  group.Add(std::move(headline));
  group.Add(Hidden({{"at_ns", answer.mappings.at_ns(), Unit::kNanoseconds},
                    {"mapped.bytes", mapped.bytes, Unit::kBytes},
                    {"mapped.objects", mapped.objects, Unit::kCount},
                    {"mapped.samples", mapped.samples, Unit::kInteger},
                    {"trustworthy", answer.scan.trust_reasons().empty()},
                    {"reasons", answer.scan.trust_reasons()},
                    {"count", uint64_t{ranked.size()}, Unit::kInteger}}));
  Table table = MakeTable("rows", MappingColumns(answer), rows, ranked.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].below = rows[i].callers;
    if (table.rows[i].below.size() > answer.callers) table.rows[i].below.resize(answer.callers);
  }
  group.Add(std::move(table));
  if (is_shown) {
    for (render::Line& line : LossLines(answer.scan)) group.Add(std::move(line));
  }
  report->Add(std::move(group));
}

}  // namespace heaprec::tools
