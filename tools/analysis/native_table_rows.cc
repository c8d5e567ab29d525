#include "tools/analysis/native_table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "tools/input/table_symbolizer.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr const char* kNoSite = "(no site)";

// "Parser::next [libparser.so]"
std::string InLibrary(const TableSymbolizer::Function& function) {
  return function.is_known ? fmt::format("{} [{}]", function.name, function.module) : function.name;
}

// Functions that allocate for whoever calls them: of C++, and of HotSpot.
bool IsHelper(const std::string& name) {
  constexpr std::string_view kHelpers[] = {"os::malloc(", "os::realloc(", "os::strdup", "AllocateHeap(",
                                           "ReallocateHeap("};
  return name.find("operator new") != std::string::npos ||
         std::ranges::any_of(kHelpers, [&](std::string_view helper) { return name.starts_with(helper); });
}

// The frame that the site is called after: of those that the table tells apart, the first that is no helper.
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

TableBy TableByOf(std::string_view word) {
  if (word == "site") return TableBy::kSite;
  return word == "function" ? TableBy::kFunction : TableBy::kLibrary;
}

std::vector<TableRow> TableRowsOf(const NativeTableFile& table, TableBy by, bool by_live) {
  TableSymbolizer symbols(table.modules);
  std::map<std::string, TableRow> rows;
  for (const NativePlace& place : table.places) {
    std::string name = ToUtf8(NameOf(place, by, table, &symbols));
    // Sites of one name have different callers, where frames beyond the first tell them apart.
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
