#include "tools/query/allocations/group_query.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tools/analysis/groups/allocation_primitives.h"

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

ClassSiteTotals::ClassSiteTotals(Keeps keeps, std::shared_ptr<MergedNames> merged)
    : keeps_(std::move(keeps)), site_names_(std::move(merged)), stacks_(&site_names_, SiteOptions()) {}

void ClassSiteTotals::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& now = *block.dictionaries;
  if (block.chunk != chunk_ || now.classes.size() < class_of_.size()) class_of_.clear();
  chunk_ = block.chunk;
  class_of_.resize(now.classes.size());
  stacks_.Enter(block, names);
}

Subset* ClassSiteTotals::GroupOf(std::string_view name, Subset::Holds holds, Groups* groups) {
  auto at = groups->find(name);
  if (at == groups->end()) at = groups->emplace(name, Subset(holds)).first;
  return &at->second;
}

void ClassSiteTotals::Add(const format::Block& block, std::span<const WeightedSample> drawn, Names* names) {
  Enter(block, names);
  const auto group_of = [](format::Index index, std::vector<Subset*>* known, auto find) {
    if (index >= known->size()) return find();
    Subset*& group = (*known)[index];
    if (group == nullptr) group = find();
    return group;
  };
  // A filter by thread or time selects parts of classes.
  const auto holds = keeps_ ? Subset::Holds::kAny : Subset::Holds::kOneClass;
  for (const WeightedSample& one : drawn) {
    const format::Sample& sample = block.samples[one.index];
    if (keeps_ && !keeps_(sample)) continue;
    matched_.Add(one);
    const auto of_class = [&] { return GroupOf(names->Class(sample.class_id), holds, &classes_); };
    group_of(sample.class_id, &class_of_, of_class)->Add(one);
    const NamePool::Id site = stacks_.LeafNameOf(sample.stack);
    if (site >= site_of_.size()) site_of_.resize(site_names_.size());
    const auto of_site = [&] { return GroupOf(site_names_.At(site), Subset::Holds::kAny, &sites_); };
    group_of(site, &site_of_, of_site)->Add(one);
  }
}

}  // namespace heaprec::tools
