#include <algorithm>
#include <functional>
#include <utility>

#include "tools/render/value_format.h"
#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

using Ranked = std::pair<std::string, CategoryBytes>;

constexpr const char* kTotal = "Total";
constexpr size_t kMaxCategories = 8;

double SecondsOf(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

Value KnownBytes(uint64_t bytes) { return bytes > 0 ? Value(bytes) : Value(); }

// Ranks the categories of a snapshot by committed bytes; the total comes first.
std::vector<Ranked> RankedOf(const MemorySnapshot& snapshot) {
  std::vector<Ranked> ranked(snapshot.categories.begin(), snapshot.categories.end());
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::pair(a.first == kTotal, a.second.committed) > std::pair(b.first == kTotal, b.second.committed);
  });
  return ranked;
}

CategoryBytes In(const MemorySnapshot& snapshot, const std::string& name) {
  const auto found = snapshot.categories.find(name);
  return found != snapshot.categories.end() ? found->second : CategoryBytes();
}

bool HasCategories(const MemorySnapshot& snapshot) { return !snapshot.categories.empty(); }

// Returns the first and the last snapshot with categories; null: none.
std::pair<const MemorySnapshot*, const MemorySnapshot*> WithCategories(const std::vector<MemorySnapshot>& snapshots) {
  const auto first = std::ranges::find_if(snapshots, HasCategories);
  if (first == snapshots.end()) return {nullptr, nullptr};
  return {&*first, &*std::ranges::find_if(snapshots.rbegin(), snapshots.rend(), HasCategories)};
}

struct CategoryRow {
  std::string name;
  CategoryBytes now, before;
  double Change() const { return static_cast<double>(now.committed) - static_cast<double>(before.committed); }
};

void AddCategories(const std::vector<MemorySnapshot>& snapshots, Group* group) {
  const auto [first, last] = WithCategories(snapshots);
  if (last == nullptr) return;
  const bool has_changes = last->time_ns > first->time_ns;
  Line when = Sentence("after {}", {{"", SecondsOf(last->time_ns), Unit::kSeconds}});
  if (has_changes) when.Continue(", and what changed since {}", {{"", SecondsOf(first->time_ns), Unit::kSeconds}});
  group->Add(std::move(when));
  std::vector<CategoryRow> rows;
  for (const auto& [name, bytes] : RankedOf(*last)) rows.push_back({name, bytes, In(*first, name)});
  std::vector<Column<CategoryRow>> columns{{"committed", "committed", Unit::kBytes, Detail::kAlways,
                                            [](const CategoryRow& row) { return KnownBytes(row.now.committed); }}};
  if (has_changes) {
    columns.push_back({"change", "change", Unit::kByteChange, Detail::kAlways, &CategoryRow::Change});
  }
  columns.push_back({"reserved", "reserved", Unit::kBytes, Detail::kWide,
                     [](const CategoryRow& row) { return KnownBytes(row.now.reserved); }});
  columns.push_back({"name", "category of the JVM", Unit::kText, Detail::kAlways, &CategoryRow::name});
  group->Add(MakeTable("categories", columns, rows));
}

// A row of the table with one column per snapshot.
struct TimeRow {
  std::string name;
  std::vector<Value> cells;
};

void AddRow(const std::vector<MemorySnapshot>& snapshots, const auto& bytes_at, std::string name,
            std::vector<TimeRow>* into) {
  TimeRow row{std::move(name), {}};
  bool is_known = false;
  for (const MemorySnapshot& snapshot : snapshots) {
    const uint64_t bytes = std::invoke(bytes_at, snapshot);
    is_known |= bytes > 0;
    row.cells.push_back(KnownBytes(bytes));
  }
  if (is_known) into->push_back(std::move(row));
}

std::vector<TimeRow> TimeRows(const MemoryAnswer& answer) {
  const std::vector<MemorySnapshot>& snapshots = answer.shown;
  std::vector<TimeRow> rows;
  AddRow(snapshots, &MemorySnapshot::rss, "process: RSS", &rows);
  AddRow(snapshots, &MemorySnapshot::pss, "process: PSS", &rows);
  AddRow(snapshots, &MemorySnapshot::not_shared, "process: private", &rows);
  if (const MemorySnapshot* const last = WithCategories(snapshots).second; last != nullptr) {
    std::vector<Ranked> ranked = RankedOf(*last);
    if (ranked.size() > kMaxCategories) ranked.resize(kMaxCategories);
    for (const Ranked& category : ranked) {
      const auto committed = [&](const MemorySnapshot& snapshot) { return In(snapshot, category.first).committed; };
      AddRow(snapshots, committed, "JVM: " + category.first, &rows);
    }
  }
  // Estimates of a site are for other snapshots, of which text shows some.
  for (const SiteLine& site : answer.sites.lines) {
    TimeRow row{"live: " + site.name, {}};
    for (const MemorySnapshot& snapshot : snapshots) {
      const auto at = std::ranges::find(answer.with_sites, snapshot.time_ns, &MemorySnapshot::time_ns);
      const auto i = static_cast<size_t>(at - answer.with_sites.begin());
      row.cells.push_back(i < site.live.size() ? Value(site.live[i]) : Value());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Table TimeTable(const MemoryAnswer& answer) {
  std::vector<Column<TimeRow>> columns;
  for (size_t i = 0; i < answer.shown.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == answer.shown.size();
    columns.push_back({"", FormatInline(SecondsOf(answer.shown[i].time_ns), Unit::kSeconds, true), Unit::kBytes,
                       is_end ? Detail::kAlways : Detail::kWide, [i](const TimeRow& row) { return row.cells[i]; }});
  }
  columns.push_back({"", "at", Unit::kText, Detail::kAlways, &TimeRow::name});
  Table table = MakeTable("", columns, TimeRows(answer));
  table.detail = Detail::kTextOnly;
  return table;
}

Value SnapshotsValue(const std::vector<MemorySnapshot>& snapshots) {
  List list;
  for (const MemorySnapshot& snapshot : snapshots) {
    Object one{{"time_ns", snapshot.time_ns}, {"rss", snapshot.rss}};
    if (snapshot.pss > 0) one.push_back({"pss", snapshot.pss});
    if (snapshot.pss > 0) one.push_back({"private", snapshot.not_shared});
    Object categories;
    for (const auto& [name, bytes] : snapshot.categories) {
      categories.push_back({name, Object{{"reserved", bytes.reserved}, {"committed", bytes.committed}}});
    }
    if (!categories.empty()) one.push_back({"categories", std::move(categories)});
    list.emplace_back(std::move(one));
  }
  return list;
}

Value SitesValue(const MemoryAnswer& answer) {
  List list;
  for (const SiteLine& site : answer.sites.lines) {
    List live;
    for (size_t i = 0; i < site.live.size(); ++i) {
      const Estimate& of = site.live[i];
      live.emplace_back(
          Object{{"value", of.value}, {"low", of.low}, {"high", of.high}, {"time_ns", answer.with_sites[i].time_ns}});
    }
    list.emplace_back(Object{{"name", site.name}, {"live_bytes", std::move(live)}});
  }
  return list;
}

}  // namespace

std::vector<MemorySnapshot> ChooseSnapshots(const std::vector<MemorySnapshot>& snapshots, size_t most) {
  if (most == 0 || snapshots.size() <= most) return snapshots;
  std::vector<MemorySnapshot> chosen;
  for (size_t i = 0; i < most; ++i) {
    chosen.push_back(snapshots[most > 1 ? i * (snapshots.size() - 1) / (most - 1) : snapshots.size() - 1]);
  }
  return chosen;
}

void AddMemory(const MemoryAnswer& answer, Group* group) {
  group->Add(Hidden({{"snapshots", SnapshotsValue(answer.snapshots)}}));
  if (answer.snapshots.empty()) {
    group->Add(Sentence("no memory snapshots (record with nmt=10s)"));
    return;
  }
  AddCategories(answer.snapshots, group);
  group->Add(TimeTable(answer));
  if (answer.shown.size() < answer.snapshots.size()) {
    group->Add(Sentence("{} of {} snapshots; --limit 0 shows all",
                        {{"", answer.shown.size(), Unit::kInteger}, {"", answer.snapshots.size(), Unit::kInteger}}));
  }
  if (answer.snapshots.back().categories.empty()) {
    group->Add(
        Sentence("# NMT categories are missing: run java with -XX:NativeMemoryTracking=summary and record with "
                 "nmt=10s for the JVM's categories"));
  }
  if (answer.sites.lines.empty()) return;
  group->Add(Hidden({{"sites", SitesValue(answer)},
                     {"trustworthy", answer.sites.trust_reasons.empty()},
                     {"reasons", answer.sites.trust_reasons}}));
  for (const std::string& reason : answer.sites.trust_reasons) {
    group->Add(Sentence("# trustworthy: no, because {}", {{"", reason}}));
  }
}

}  // namespace heaprec::tools
