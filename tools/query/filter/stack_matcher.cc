#include "tools/query/filter/stack_matcher.h"

namespace heaprec::tools {

void StackMatch::Enter(const format::Block& block, Names* names, bool is_new) {
  if (is_new) {
    frames_.clear();
    passed_over_.clear();
    stacks_.clear();
  }
  names_ = names;
  frames_.resize(block.dictionaries->frames.size());
  passed_over_.resize(block.dictionaries->frames.size());
  stacks_.resize(block.dictionaries->stacks.size());
}

bool StackMatch::Ask(const Test& test, format::Index frame, Matches* known) {
  if (frame >= known->size()) return false;
  Match& match = (*known)[frame];
  if (match == Match::kNotLooked) match = test(names_->Method(*names_->FrameOf(frame))) ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

// The first frame that is not passed over, or the leaf.
bool StackMatch::Site(format::Index stack) {
  if (stack >= stacks_.size()) return false;
  Match& match = stacks_[stack];
  if (match != Match::kNotLooked) return match == Match::kYes;
  format::Index site = names_->NodeOf(stack)->frame;
  for (format::Index at = stack;;) {
    const format::StackNode& node = *names_->NodeOf(at);
    if (!Ask(passes_over_, node.frame, &passed_over_)) {
      site = node.frame;
      break;
    }
    if (node.parent >= at) break;  // kNone, or damaged
    at = node.parent;
  }
  match = OfFrame(site) ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

// The answer of a node is its frame's or its parent's; walked upwards until one is known, then remembered for the leaf.
bool StackMatch::AnyFrame(format::Index index) {
  if (index >= stacks_.size()) return false;
  const format::Index leaf = index;
  if (stacks_[leaf] != Match::kNotLooked) return stacks_[leaf] == Match::kYes;
  bool found = false;
  while (index < stacks_.size() && !found) {
    if (stacks_[index] != Match::kNotLooked) {
      found = stacks_[index] == Match::kYes;
      break;
    }
    const format::StackNode& node = *names_->NodeOf(index);
    found = OfFrame(node.frame);
    if (node.parent != format::kNone && node.parent >= index) break;
    index = node.parent;
  }
  stacks_[leaf] = found ? Match::kYes : Match::kNo;
  return found;
}

}  // namespace heaprec::tools
