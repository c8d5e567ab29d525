#include "tools/query/allocations/class_site_totals.h"

#include <functional>

#include "tools/analysis/groups/allocation_primitives.h"

namespace heaprec::tools {
namespace {

CallTree::Options SiteOptions() {
  CallTree::Options options;
  options.is_primitive = std::bind_front(&AllocationPrimitives::Contains, AllocationPrimitives::Default());
  return options;
}

}  // namespace

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
  // What is chosen by thread or time cuts through classes.
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
