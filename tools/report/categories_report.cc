#include "tools/report/categories_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/text/table.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using Ranked = std::pair<std::string, CategoryBytes>;

constexpr const char* kTotal = "Total";
constexpr size_t kMostCategories = 8;

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

// The last one that has categories; null: none has.
const MemoryLook* LastWithCategories(const std::vector<MemoryLook>& looks) {
  const auto last = std::ranges::find_if(looks.rbegin(), looks.rend(),
                                         [](const MemoryLook& look) { return !look.categories.empty(); });
  return last != looks.rend() ? &*last : nullptr;
}

// Where a terminal has no room for all looks, those go first that halve the time between others last.
int PatienceOf(size_t i, size_t count) {
  if (i == 0 || i + 1 == count) return Column::kStays;
  return std::countr_zero(i) + 1;
}

void AddLine(const std::vector<MemoryLook>& looks, const auto& bytes_at, const std::string& name, Table* into) {
  std::vector<Cell> cells;
  bool is_known = false;
  for (const MemoryLook& look : looks) {
    const uint64_t bytes = bytes_at(look);
    is_known |= bytes > 0;
    cells.push_back({Size(bytes), ""});
  }
  if (is_known) into->Add(std::move(cells), name);
}

void AddCategories(const std::vector<MemoryLook>& looks, Table* into) {
  const MemoryLook* const last = LastWithCategories(looks);
  if (last == nullptr) return;
  std::vector<Ranked> ranked = RankedOf(*last);
  if (ranked.size() > kMostCategories) ranked.resize(kMostCategories);
  for (const Ranked& category : ranked) {
    const auto committed = [&](const MemoryLook& look) { return In(look, category.first).committed; };
    AddLine(looks, committed, "JVM: " + category.first, into);
  }
}

}  // namespace

std::vector<MemoryLook> ChosenLooks(const std::vector<MemoryLook>& looks, size_t most) {
  if (most == 0 || looks.size() <= most) return looks;
  std::vector<MemoryLook> chosen;
  for (size_t i = 0; i < most; ++i) {
    chosen.push_back(looks[most > 1 ? i * (looks.size() - 1) / (most - 1) : looks.size() - 1]);
  }
  return chosen;
}

void AppendLastLook(const std::vector<MemoryLook>& looks, const Terminal& terminal, Text* into) {
  const MemoryLook* const last = LastWithCategories(looks);
  if (last == nullptr) return;
  const MemoryLook& first = FirstWithCategories(looks);
  const bool has_changes = last->time_ns > first.time_ns;
  const std::string since = has_changes ? ", and what changed since " + Seconds(first.time_ns) : "";
  Append(*into, fmt::format("after {}{}\n\n", Seconds(last->time_ns), since));
  std::vector<Column> columns{{"committed"}, {"reserved", 4}};
  if (has_changes) columns.insert(columns.begin() + 1, Column{"change", 8});
  Table table(columns, "category of the JVM");
  for (const auto& [name, bytes] : RankedOf(*last)) {
    std::vector<Cell> cells{{Size(bytes.committed), ""}, {Size(bytes.reserved), ""}};
    if (has_changes) cells.insert(cells.begin() + 1, Cell{Change(In(first, name).committed, bytes.committed), ""});
    table.Add(std::move(cells), name);
  }
  table.AppendTo(terminal, into);
  Append(*into, "\n");
}

void AppendLooks(const std::vector<MemoryLook>& looks, const std::vector<SiteLine>& sites, const Terminal& terminal,
                 Text* into) {
  std::vector<Column> columns;
  for (size_t i = 0; i < looks.size(); ++i) {
    const int patience = PatienceOf(i, looks.size());
    columns.push_back({Seconds(looks[i].time_ns), patience, std::min(patience, 1)});
  }
  Table table(columns, "");
  AddLine(
      looks, [](const MemoryLook& look) { return look.rss; }, "process: rss", &table);
  AddLine(
      looks, [](const MemoryLook& look) { return look.pss; }, "process: pss", &table);
  AddLine(
      looks, [](const MemoryLook& look) { return look.not_shared; }, "process: private", &table);
  AddCategories(looks, &table);
  for (const SiteLine& site : sites) {
    std::vector<Cell> cells;
    for (const Estimate& live : site.live) cells.push_back(BytesCell(live));
    table.Add(std::move(cells), "alive: " + site.name);
  }
  table.AppendTo(terminal, into);
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

json SitesAsJson(const std::vector<MemoryLook>& looks, const std::vector<SiteLine>& sites) {
  json rows = json::array();
  for (const SiteLine& site : sites) {
    json live = json::array();
    for (size_t i = 0; i < site.live.size(); ++i) {
      live.push_back(AsJson(site.live[i]));
      live.back()["time_ns"] = looks[i].time_ns;
    }
    rows.push_back({{"name", site.name}, {"live_bytes", std::move(live)}});
  }
  return rows;
}

}  // namespace heaprec::tools
