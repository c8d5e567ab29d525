#include "tools/query/flame_query.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {

void LeafVisitor::Begin(const format::FileHeader& header, std::optional<OrderLevel>) {
  headers_.push_back(header);
  chunk_ = format::kNone;
  now_.clear();
  types_.Start();
}

void LeafVisitor::Visit(const MatchedBlock& matched_block) {
  NoteNatives(matched_block);
  for (const WeightedSample* drawn : matched_block.drawn) {
    const CallTree::NodeId leaf = LeafOf(matched_block, matched_block.block.samples[drawn->index]);
    if (leaf >= now_.size()) now_.resize(std::max<size_t>(leaf + size_t{1}, now_.size() * 3 / 2));
    if (classes_ && now_[leaf] == 0) class_names_.insert(matched_block.tree.At(leaf).name);
    now_[leaf] += drawn->weight;
    if (wants_types_) {
      types_.Add(matched_block.block, matched_block.tree, matched_block.block.samples[drawn->index].stack,
                 drawn->weight);
    }
  }
}

void LeafVisitor::End(const Estimator& estimator, double seconds) {
  seconds_ += seconds;
  weights_.resize(std::max(weights_.size(), now_.size()));
  for (size_t leaf = 0; leaf < now_.size(); ++leaf) weights_[leaf] += estimator.factor() * now_[leaf];
  types_.Close(estimator.factor());
}

CallTree::NodeId LeafVisitor::LeafOf(const MatchedBlock& matched_block, const format::Sample& sample) const {
  CallTree& tree = matched_block.tree;
  const CallTree::NodeId frame = tree.Of(sample.stack);
  return classes_ ? tree.ChildOf(frame, tree.names().Of(matched_block.names.Class(sample.class_id))) : frame;
}

// Native methods are the ones without a place in bytecode.
void LeafVisitor::NoteNatives(const MatchedBlock& matched_block) {
  const auto& frames = matched_block.block.dictionaries->frames;
  if (matched_block.block.chunk != chunk_ || frames.size() < frames_) frames_ = 0;
  chunk_ = matched_block.block.chunk;
  for (; frames_ < frames.size(); ++frames_) {
    const format::Frame& frame = frames[frames_];
    if (frame.bci >= 0 || frame.IsGap()) continue;
    native_names_.insert(matched_block.tree.names().Of(matched_block.names.Method(frame)));
  }
}

BoxVisitor::BoxVisitor(const LeafVisitor* leaves, std::vector<const FlameBoxTree*> trees)
    : leaves_(*leaves), trees_(std::move(trees)), tables_(trees_.size(), GroupTable(leaves_.level())) {}

void BoxVisitor::Begin(const format::FileHeader&, std::optional<OrderLevel> matched_by) {
  for (GroupTable& table : tables_) table.Start(matched_by);
}

void BoxVisitor::Visit(const MatchedBlock& matched_block) {
  for (const WeightedSample* drawn : matched_block.drawn) {
    const CallTree::NodeId leaf = leaves_.LeafOf(matched_block, matched_block.block.samples[drawn->index]);
    for (size_t i = 0; i < trees_.size(); ++i) {
      const std::vector<FlameBoxTree::Box>& boxes = trees_[i]->boxes();
      for (FlameBoxTree::BoxId box = trees_[i]->Of(leaf); box != FlameBoxTree::kNone; box = boxes[box].parent) {
        tables_[i].Add(box, *drawn);
      }
    }
  }
}

void BoxVisitor::End(const Estimator& estimator, double) {
  for (GroupTable& table : tables_) table.Close(estimator);
}

}  // namespace heaprec::tools
