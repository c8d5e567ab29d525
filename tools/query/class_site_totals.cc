#include "tools/query/class_site_totals.h"

namespace heaprec::tools {
namespace {

const format::Frame* LeafOf(format::Index stack, const Names& names) {
  const format::StackNode* node = names.NodeOf(stack);
  return node != nullptr ? names.FrameOf(node->frame) : nullptr;
}

}  // namespace

void Breakdown::Enter(const format::Block& block) {
  const format::Dictionaries& now = *block.dictionaries;
  if (block.chunk != chunk_ || now.classes.size() < class_of_.size() || now.methods.size() < site_of_.size()) {
    class_of_.clear();
    site_of_.clear();
  }
  chunk_ = block.chunk;
  class_of_.resize(now.classes.size());
  site_of_.resize(now.methods.size());
}

// What is chosen by thread or time cuts through classes and sites.
Subset* Breakdown::GroupOf(std::string_view name, Grain grain, Groups* groups) {
  const auto holds = grain == Grain::kClass ? Subset::Holds::kOneClass : Subset::Holds::kAny;
  auto at = groups->find(name);
  if (at == groups->end()) at = groups->emplace(name, Subset(keeps_ ? Grain::kThread : grain, holds)).first;
  return &at->second;
}

void Breakdown::Add(const format::Block& block, std::span<const Drawn> drawn, Names* names) {
  Enter(block);
  const auto group_of = [](format::Index index, std::vector<Subset*>* known, auto find) {
    if (index >= known->size()) return find();
    Subset*& group = (*known)[index];
    if (group == nullptr) group = find();
    return group;
  };
  for (const Drawn& one : drawn) {
    const format::Sample& sample = block.samples[one.index];
    if (keeps_ && !keeps_(sample)) continue;
    chosen_.Add(one);
    const auto of_class = [&] { return GroupOf(names->Class(sample.class_id), Grain::kClass, &classes_); };
    group_of(sample.class_id, &class_of_, of_class)->Add(one);
    const format::Frame* leaf = LeafOf(sample.stack, *names);
    const auto of_site = [&] {
      return GroupOf(leaf != nullptr ? names->Method(*leaf) : kUnknown, Grain::kMethod, &sites_);
    };
    group_of(leaf != nullptr ? leaf->method : format::kNone, &site_of_, of_site)->Add(one);
  }
}

}  // namespace heaprec::tools
