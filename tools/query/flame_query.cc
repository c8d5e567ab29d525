#include "tools/query/flame_query.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {

void LeafSurvey::Begin(const format::FileHeader& header, std::optional<Grain>) {
  headers_.push_back(header);
  chunk_ = format::kNone;
  now_.clear();
  types_.Start();
}

void LeafSurvey::See(const Sighting& sighting) {
  NoteNatives(sighting);
  for (const Drawn* drawn : sighting.drawn) {
    const CallTree::NodeId leaf = LeafOf(sighting, sighting.block.samples[drawn->index]);
    if (leaf >= now_.size()) now_.resize(std::max<size_t>(leaf + size_t{1}, now_.size() * 3 / 2));
    if (classes_ && now_[leaf] == 0) class_names_.insert(sighting.tree.At(leaf).name);
    now_[leaf] += drawn->weight;
    if (wants_types_) {
      types_.Add(sighting.block, sighting.tree, sighting.block.samples[drawn->index].stack, drawn->weight);
    }
  }
}

void LeafSurvey::End(const Estimator& estimator, double seconds) {
  seconds_ += seconds;
  weights_.resize(std::max(weights_.size(), now_.size()));
  for (size_t leaf = 0; leaf < now_.size(); ++leaf) weights_[leaf] += estimator.factor() * now_[leaf];
  types_.Close(estimator.factor());
}

CallTree::NodeId LeafSurvey::LeafOf(const Sighting& sighting, const format::Sample& sample) const {
  CallTree& tree = sighting.tree;
  const CallTree::NodeId frame = tree.Of(sample.stack);
  return classes_ ? tree.ChildOf(frame, tree.names().Of(sighting.names.Class(sample.class_id))) : frame;
}

// Native methods are the ones without a place in bytecode.
void LeafSurvey::NoteNatives(const Sighting& sighting) {
  const auto& frames = sighting.block.dictionaries->frames;
  if (sighting.block.chunk != chunk_ || frames.size() < frames_) frames_ = 0;
  chunk_ = sighting.block.chunk;
  for (; frames_ < frames.size(); ++frames_) {
    const format::Frame& frame = frames[frames_];
    if (frame.bci >= 0 || frame.IsGap()) continue;
    native_names_.insert(sighting.tree.names().Of(sighting.names.Method(frame)));
  }
}

BoxSurvey::BoxSurvey(const LeafSurvey* leaves, std::vector<const BoxTree*> trees)
    : leaves_(*leaves), trees_(std::move(trees)), tables_(trees_.size(), GroupTable(leaves_.grain())) {}

void BoxSurvey::Begin(const format::FileHeader&, std::optional<Grain> chosen_by) {
  for (GroupTable& table : tables_) table.Start(chosen_by);
}

void BoxSurvey::See(const Sighting& sighting) {
  for (const Drawn* drawn : sighting.drawn) {
    const CallTree::NodeId leaf = leaves_.LeafOf(sighting, sighting.block.samples[drawn->index]);
    for (size_t i = 0; i < trees_.size(); ++i) {
      const std::vector<BoxTree::Box>& boxes = trees_[i]->boxes();
      for (BoxTree::BoxId box = trees_[i]->Of(leaf); box != BoxTree::kNone; box = boxes[box].parent) {
        tables_[i].Add(box, *drawn);
      }
    }
  }
}

void BoxSurvey::End(const Estimator& estimator, double) {
  for (GroupTable& table : tables_) table.Close(estimator);
}

}  // namespace heaprec::tools
