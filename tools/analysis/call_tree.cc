#include "tools/analysis/call_tree.h"

#include <fmt/format.h>

#include <utility>

namespace heaprec::tools {

CallTree::CallTree(NamePool* names, Options options) : names_(*names), options_(std::move(options)) {
  nodes_.push_back({.parent = kRoot, .name = names_.Of(""), .depth = 0});
}

void CallTree::Start() { chunk_names_ = nullptr; }

void CallTree::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& dictionaries = *block.dictionaries;
  if (chunk_names_ == nullptr || block.chunk != chunk_ || dictionaries.stacks.size() < nodes_of_.size()) {
    nodes_of_.clear();
    names_of_.clear();
  }
  chunk_ = block.chunk;
  chunk_names_ = names;
  nodes_of_.resize(dictionaries.stacks.size(), kNotLooked);
  names_of_.resize(dictionaries.frames.size(), kNotLooked);
}

// Upwards to a node that is known already, then down again: a stack may be thousands of frames deep.
CallTree::NodeId CallTree::Look(format::Index stack) {
  if (stack >= nodes_of_.size()) return ChildOf(kRoot, names_.Of(kUnknown));
  path_.clear();
  NodeId node = kRoot;
  for (format::Index at = stack;;) {
    if (nodes_of_[at] != kNotLooked) {
      node = nodes_of_[at];
      break;
    }
    path_.push_back(at);
    const format::StackNode& entry = *chunk_names_->NodeOf(at);
    // A parent always precedes its children; anything else is a damaged tree and ends the walk.
    if (entry.parent == format::kNone || entry.parent >= at) {
      if (entry.truncated) node = ChildOf(kRoot, names_.Of(kTruncated));
      break;
    }
    at = entry.parent;
  }
  for (; !path_.empty(); path_.pop_back()) {
    node = Below(node, chunk_names_->NodeOf(path_.back())->frame);
    nodes_of_[path_.back()] = node;
  }
  return node == kRoot ? nodes_of_[stack] = ChildOf(kRoot, names_.Of(kHidden)) : node;
}

CallTree::NodeId CallTree::Below(NodeId parent, format::Index frame) {
  const NamePool::Id name = NameOfFrame(frame);
  if (name == kLeftOut || nodes_[parent].depth >= kMaxDepth) return parent;
  if (options_.fold) {
    for (NodeId above = parent; above != kRoot; above = nodes_[above].parent) {
      if (nodes_[above].name == name) return above;
    }
  }
  return ChildOf(parent, name);
}

CallTree::NodeId CallTree::ChildOf(NodeId parent, NamePool::Id name) {
  const auto [known, is_new] = children_.try_emplace(uint64_t{parent} << 32 | name, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, name, nodes_[parent].depth + 1});
  return known->second;
}

NamePool::Id CallTree::NameOfFrame(format::Index frame) {
  if (frame >= names_of_.size()) return names_.Of(kUnknown);
  NamePool::Id& name = names_of_[frame];
  if (name == kNotLooked) name = RenderFrame(frame);
  return name;
}

NamePool::Id CallTree::RenderFrame(format::Index index) {
  const format::Frame& frame = *chunk_names_->FrameOf(index);
  const std::string_view method = chunk_names_->Method(frame);
  if (options_.hides && !frame.IsGap() && options_.hides(method)) return kLeftOut;
  if (!options_.lines || frame.line < 0) return names_.Of(method);
  return names_.Of(fmt::format("{}:{}", method, frame.line));
}

}  // namespace heaprec::tools
