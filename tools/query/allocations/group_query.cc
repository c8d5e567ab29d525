#include "tools/query/allocations/group_query.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/analysis/groups/call_tree.h"

namespace heaprec::tools {
namespace {

constexpr char kCumulative[] = "cumulative", kName[] = "name";

// Unknown values sort last.
double Measure(const GroupEstimates& estimates, std::string_view sort) {
  if (sort == "objects") return OrUnbounded(estimates.objects).value;
  if (sort == "mean-size") return OrUnbounded(estimates.mean_size).value;
  if (sort == "points") return static_cast<double>(estimates.samples);
  return estimates.bytes.value;
}

CallTree::Options SiteOptions() {
  CallTree::Options options;
  options.is_primitive = std::bind_front(&AllocationPrimitives::Contains, AllocationPrimitives::Default());
  return options;
}

}  // namespace

Groups::Groups(Grouping grouping)
    : grouping_(std::move(grouping)),
      own_(grouping_.by() == By::kClass ? Subset::Holds::kOneClass : Subset::Holds::kAny) {
  if (grouping_.by() == By::kMethod) cumulative_.emplace();
}

void Groups::Begin() {
  grouping_.Start();
  own_.Start();
  if (cumulative_) cumulative_->Start();
}

void Groups::Visit(const MatchedBlock& matched_block) {
  grouping_.KeysOf(matched_block.block, matched_block.drawn, &matched_block.names, &matched_block.tree, &keys_);
  own_.Add(keys_, matched_block.drawn);
  if (cumulative_) AddCumulative(matched_block);
  if (grouping_.by() != By::kClass) return;
  for (const format::Row* row : matched_block.outside) {
    format::Sample of_class;
    of_class.class_id = row->class_id;
    outside_[grouping_.KeyOf(of_class, &matched_block.names, &matched_block.tree)].Add(*row);
  }
}

void Groups::AddCumulative(const MatchedBlock& matched_block) {
  CallTree& tree = matched_block.tree;
  for (const WeightedSample* drawn : matched_block.drawn) {
    CallTree::NodeId node = drawn->row != nullptr ? tree.OfRow(drawn->stack) : tree.Of(drawn->stack);
    for (; node != CallTree::kRoot; node = tree.At(node).parent) cumulative_->Add(tree.At(node).name, *drawn);
  }
}

void Groups::End(const Estimator& estimator) {
  own_.Close(estimator);
  if (cumulative_) cumulative_->Close(estimator);
}

const std::vector<std::string>& SortKeys() {
  static const auto* keys = new std::vector<std::string>{"bytes", "objects", "mean-size", "points", kCumulative, kName};
  return *keys;
}

std::vector<const GroupTable::Row*> Ranked(const Groups& of, const Ranking& ranking, const CallTree& tree) {
  const bool by_cumulative = ranking.sort == kCumulative && of.cumulative() != nullptr;
  // A method that only calls others has no group of its own.
  const GroupTable& table = of.cumulative() != nullptr ? *of.cumulative() : of.own();
  struct Entry {
    double measure;
    std::string name;
    const GroupTable::Row* row;
  };
  std::vector<Entry> entries;
  for (const GroupTable::Row& row : table.Rows()) {
    const GroupEstimates& estimates = by_cumulative ? row.estimates : of.own().Of(row.key);
    if (estimates.share.value < ranking.min_share) continue;
    const double measure = ranking.sort == kName ? 0 : Measure(estimates, ranking.sort);
    entries.push_back({measure, of.grouping().NameOf(row.key, tree), &row});
  }
  const bool by_size = ranking.sort == kName && of.grouping().by() == By::kSize;
  std::sort(entries.begin(), entries.end(), [by_size](const Entry& a, const Entry& b) {
    if (a.measure != b.measure) return a.measure > b.measure;
    return by_size || a.name == b.name ? a.row->key < b.row->key : a.name < b.name;
  });
  if (ranking.limit > 0 && entries.size() > ranking.limit) entries.resize(ranking.limit);
  std::vector<const GroupTable::Row*> rows;
  rows.reserve(entries.size());
  for (const Entry& entry : entries) rows.push_back(entry.row);
  return rows;
}

void GroupSums::Add(const format::Block& block, std::span<const WeightedSample* const> drawn, Names* names,
                    CallTree* tree) {
  std::vector<GroupTable::Key> keys;
  grouping.KeysOf(block, drawn, names, tree, &keys);
  for (size_t i = 0; i < drawn.size(); ++i) sums.try_emplace(keys[i], holds).first->second.Add(*drawn[i]);
}

// A filter by thread or time selects parts of classes.
ClassSiteTotals::ClassSiteTotals(Keeps keeps, std::shared_ptr<MergedNames> merged)
    : keeps_(std::move(keeps)),
      names_(std::move(merged)),
      tree_(&names_, SiteOptions()),
      classes_(By::kClass, keeps_ ? Subset::Holds::kAny : Subset::Holds::kOneClass) {}

void ClassSiteTotals::Add(const format::Block& block, std::span<const WeightedSample> drawn, Names* names) {
  std::vector<const WeightedSample*> kept;
  for (const WeightedSample& one : drawn) {
    if (keeps_ && !keeps_(block.samples[one.index])) continue;
    matched_.Add(one);
    kept.push_back(&one);
  }
  tree_.Enter(block, names);
  classes_.Add(block, kept, names, &tree_);
  sites_.Add(block, kept, names, &tree_);
}

ClassSiteTotals::Groups ClassSiteTotals::ByName(const GroupSums& of) const {
  Groups groups;
  for (const auto& [key, sum] : of.sums) groups.emplace_back(of.grouping.NameOf(key, tree_), sum);
  return groups;
}

}  // namespace heaprec::tools
