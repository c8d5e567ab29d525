#include "tools/native/categories_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/render/table.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using Ranked = std::pair<std::string, CategoryBytes>;

constexpr const char* kTotal = "Total";
// Columns of categories; what has no room goes first from the right.
constexpr size_t kMostColumns = 8;

std::string Size(uint64_t bytes) { return bytes > 0 ? Bytes(static_cast<double>(bytes)) : "-"; }

std::string Change(uint64_t before, uint64_t now) {
  const std::string size = Bytes(static_cast<double>(now > before ? now - before : before - now));
  return (now < before ? "-" : "+") + size;
}

std::string Seconds(uint64_t ns) { return fmt::format("{:.1f} s", static_cast<double>(ns) * 1e-9); }

// Of the last look, by what is committed; the total first.
std::vector<Ranked> RankedOf(const MemoryLook& look) {
  std::vector<Ranked> ranked(look.categories.begin(), look.categories.end());
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::pair(a.first == kTotal, a.second.committed) > std::pair(b.first == kTotal, b.second.committed);
  });
  return ranked;
}

const CategoryBytes& In(const MemoryLook& look, const std::string& name) {
  static constexpr CategoryBytes kNone;
  const auto found = look.categories.find(name);
  return found != look.categories.end() ? found->second : kNone;
}

// The first look that has categories: the first of all may be one at the process alone.
const MemoryLook& FirstWithCategories(const std::vector<MemoryLook>& looks) {
  const auto first = std::ranges::find_if(looks, [](const MemoryLook& look) { return !look.categories.empty(); });
  return first != looks.end() ? *first : looks.front();
}

void AppendLast(const std::vector<MemoryLook>& looks, const std::vector<Ranked>& ranked, const MemoryLook& last,
                const Terminal& terminal, Text* into) {
  const MemoryLook& first = FirstWithCategories(looks);
  Append(*into, fmt::format("after {}, and what changed since {}\n\n", Seconds(last.time_ns), Seconds(first.time_ns)));
  Table table({{"committed"}, {"change", 8}, {"reserved", 4}}, "category of the JVM");
  for (const auto& [name, bytes] : ranked) {
    table.Add({{Size(bytes.committed), ""},
               {Change(In(first, name).committed, bytes.committed), ""},
               {Size(bytes.reserved), ""}},
              name);
  }
  table.AppendTo(terminal, into);
  Append(*into, "\n");
}

std::vector<Column> ColumnsFor(const std::vector<Ranked>& ranked) {
  std::vector<Column> columns = {{"rss"}, {"pss"}, {"private", 20}};
  for (size_t i = 0; i < std::min(kMostColumns, ranked.size()); ++i) {
    columns.push_back({ranked[i].first, static_cast<int>(kMostColumns - i)});
  }
  return columns;
}

}  // namespace

void AppendCategories(const std::vector<MemoryLook>& looks, size_t most_looks, const Terminal& terminal, Text* into) {
  const auto last = std::ranges::find_if(looks.rbegin(), looks.rend(),
                                         [](const MemoryLook& look) { return !look.categories.empty(); });
  const std::vector<Ranked> ranked = last != looks.rend() ? RankedOf(*last) : std::vector<Ranked>();
  if (!ranked.empty()) AppendLast(looks, ranked, *last, terminal, into);
  Table table(ColumnsFor(ranked), "after");
  const size_t rows = most_looks > 0 ? std::min(most_looks, looks.size()) : looks.size();
  for (size_t row = 0; row < rows; ++row) {
    const MemoryLook& look = looks[rows > 1 ? row * (looks.size() - 1) / (rows - 1) : looks.size() - 1];
    std::vector<Cell> cells = {{Size(look.rss), ""}, {Size(look.pss), ""}, {Size(look.not_shared), ""}};
    for (size_t i = 0; i < std::min(kMostColumns, ranked.size()); ++i) {
      cells.push_back({Size(In(look, ranked[i].first).committed), ""});
    }
    table.Add(cells, Seconds(look.time_ns));
  }
  table.AppendTo(terminal, into);
  if (rows < looks.size()) {
    Append(*into, terminal.Dim(fmt::format("{} of {} looks; --limit 0 shows all", rows, looks.size())) + "\n");
  }
}

json CategoriesAsJson(const std::vector<MemoryLook>& looks) {
  json rows = json::array();
  for (const MemoryLook& look : looks) {
    json row = {{"time_ns", look.time_ns}, {"rss", look.rss}};
    if (look.pss > 0) row["pss"] = look.pss;
    if (look.pss > 0) row["private"] = look.not_shared;
    for (const auto& [name, bytes] : look.categories) {
      row["categories"][name] = {{"reserved", bytes.reserved}, {"committed", bytes.committed}};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heaprec::tools
