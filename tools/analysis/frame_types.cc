#include "tools/analysis/frame_types.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

void AddTo(ByFrameType* sums, const ByFrameType& more, double factor) {
  for (size_t type = 0; type < more.size(); ++type) (*sums)[type] += factor * more[type];
}

}  // namespace

void FrameTypes::Add(const format::Block& block, CallTree& tree, format::Index stack, double weight) {
  const format::Dictionaries& names = *block.dictionaries;
  // A parent stands before its child, whatever a damaged file says of a loop.
  for (format::Index at = stack; at < names.stacks.size();) {
    const format::StackNode& entry = names.stacks[at];
    const bool has_parent = entry.parent < at;
    const CallTree::NodeId node = tree.Of(at);
    // A frame that is hidden, or folded into one above, has no node of its own.
    const bool is_own = !has_parent || tree.At(node).depth > tree.At(tree.Of(entry.parent)).depth;
    if (is_own && entry.frame < names.frames.size()) {
      if (node >= now_.size()) now_.resize(std::max<size_t>(node + size_t{1}, now_.size() * 3 / 2));
      now_[node][static_cast<size_t>(names.frames[entry.frame].type)] += weight;
    }
    at = has_parent ? entry.parent : format::kNone;
  }
}

void FrameTypes::Close(double factor) {
  all_.resize(std::max(all_.size(), now_.size()));
  for (size_t node = 0; node < now_.size(); ++node) AddTo(&all_[node], now_[node], factor);
  now_.clear();
}

}  // namespace heaprec::tools
