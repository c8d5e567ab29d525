#include "tools/query/allocations/flame_query.h"

#include <algorithm>

namespace heaprec::tools {

void LeafVisitor::Begin(const format::FileHeader&) {
  chunk_ = format::kNone;
  now_.clear();
}

void LeafVisitor::Visit(const MatchedBlock& matched_block) {
  NoteNatives(matched_block);
  for (const WeightedSample* drawn : matched_block.drawn) {
    const CallTree::NodeId leaf = LeafOf(matched_block, *drawn);
    if (leaf >= now_.size()) now_.resize(std::max<size_t>(leaf + size_t{1}, now_.size() * 3 / 2));
    if (classes_ && now_[leaf] == 0) class_names_.insert(matched_block.tree.At(leaf).name);
    now_[leaf] += drawn->weight;
  }
}

void LeafVisitor::End(const Estimator& estimator, double) {
  weights_.resize(std::max(weights_.size(), now_.size()));
  for (size_t leaf = 0; leaf < now_.size(); ++leaf) weights_[leaf] += estimator.factor() * now_[leaf];
}

CallTree::NodeId LeafVisitor::LeafOf(const MatchedBlock& matched_block, const WeightedSample& drawn) const {
  CallTree& tree = matched_block.tree;
  const CallTree::NodeId frame = drawn.row != nullptr ? tree.OfRow(drawn.stack) : tree.Of(drawn.stack);
  return Below(frame, drawn.class_id, matched_block);
}

CallTree::NodeId LeafVisitor::Below(CallTree::NodeId frame, format::Index class_id,
                                    const MatchedBlock& matched_block) const {
  CallTree& tree = matched_block.tree;
  return classes_ ? tree.ChildOf(frame, tree.names().Of(matched_block.names.Class(class_id))) : frame;
}

CallTree::NodeId LeafVisitor::NoteLeaf(const MatchedBlock& matched_block, const format::Sample& sample) {
  const CallTree::NodeId leaf = Below(matched_block.tree.Of(sample.stack), sample.class_id, matched_block);
  if (classes_) class_names_.insert(matched_block.tree.At(leaf).name);
  return leaf;
}

// Native methods have no position in bytecode.
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

void LiveLeafVisitor::Begin(const format::FileHeader& header) {
  leaves_.Begin(header);
  lives_.reset();
  leaf_of_.clear();
  ended_ns_.reset();
  start_epoch_ns_ = header.start_epoch_ns;
  if (header.MaxTracked(question_.stream) == 0) return;
  ++tracked_;
  lives_.emplace(header, question_.stream);
}

void LiveLeafVisitor::Visit(const MatchedBlock& matched_block) {
  leaves_.Visit(matched_block);
  if (!lives_) return;
  const format::Block& block = matched_block.block;
  const auto subject_of = [&](const format::Sample& sample) {
    leaf_of_.push_back(leaves_.NoteLeaf(matched_block, sample));
    heaviest_ = std::max(heaviest_, sample.weight_bytes());
    return static_cast<uint32_t>(leaf_of_.size() - 1);
  };
  samples_.assign(block.samples.size(), Lifetimes::kLeftOut);
  for (const WeightedSample* drawn : matched_block.drawn) {
    samples_[drawn->index] = subject_of(block.samples[drawn->index]);
  }
  live_checkpoint_.assign(block.live_checkpoint.size(), Lifetimes::kLeftOut);
  for (const format::CheckpointSample* one : matched_block.live_checkpoint) {
    if (lives_->Knows(one->sample.id)) continue;
    live_checkpoint_[static_cast<size_t>(one - block.live_checkpoint.data())] = subject_of(one->sample);
  }
  lives_->Add(block, samples_, live_checkpoint_);
  if (block.ending) ended_ns_ = block.ending->time_ns;
}

void LiveLeafVisitor::End(const Estimator& estimator, double seconds) {
  leaves_.End(estimator, seconds);
  if (!lives_) return;
  const uint64_t end_ns = ended_ns_.value_or(lives_->end_ns());
  lives_->Close(end_ns);
  is_range_ |= lives_->is_range();
  const uint64_t at_ns = MomentOf(question_.at, start_epoch_ns_, end_ns);
  for (const Lifetime& life : lives_->all()) {
    if (life.subject == Lifetimes::kLeftOut || !life.IsTrackedAt(at_ns)) continue;
    const uint64_t age_ns = at_ns - std::min(at_ns, life.birth_ns);
    if (age_ns < question_.least_age_ns) continue;
    const LiveSample sample{lives_->WeightAt(life, at_ns), static_cast<double>(life.size),
                            static_cast<double>(age_ns) * 1e-9, static_cast<double>(lives_->SurvivedBy(life, at_ns))};
    const CallTree::NodeId leaf = leaf_of_[life.subject];
    if (leaf >= weights_.size()) weights_.resize(leaf + size_t{1});
    weights_[leaf] += sample.weight;
    total_.Add(sample);
    alive_.push_back({leaf, sample});
  }
}

std::vector<GroupEstimates> LiveLeafVisitor::EstimatesOf(const FlameBoxTree& tree) const {
  const std::vector<FlameBoxTree::Box>& boxes = tree.boxes();
  std::vector<std::vector<LiveSample>> groups(boxes.size());
  for (const Alive& one : alive_) {
    for (FlameBoxTree::BoxId box = tree.Of(one.leaf); box != FlameBoxTree::kNone; box = boxes[box].parent) {
      groups[box].push_back(one.sample);
    }
  }
  const double unit = total_.bytes > 0 ? total_.Unit() : heaviest_;
  std::vector<GroupEstimates> estimates;
  for (const std::vector<LiveSample>& group : groups) {
    const LiveEstimates of = EstimateGroup(group, total_, unit);
    estimates.push_back({of.samples, of.bytes, of.objects, of.share, kUnknownEstimate});
  }
  return estimates;
}

void BoxVisitor::Visit(const MatchedBlock& matched_block) {
  const std::vector<FlameBoxTree::Box>& boxes = tree_.boxes();
  for (const WeightedSample* drawn : matched_block.drawn) {
    const CallTree::NodeId leaf = leaves_.LeafOf(matched_block, *drawn);
    const FlameBoxTree::BoxId end = tree_.Of(leaf);
    if (boxes[end].folded == 0) own_.Add(end, *drawn);
    for (FlameBoxTree::BoxId box = end; box != FlameBoxTree::kNone; box = boxes[box].parent) {
      table_.Add(box, *drawn);
    }
  }
}

ExitCode FlameScan::ChooseBoxes() {
  if (!question_.live) {
    RecordingScan rehearsal = scan_;
    rehearsal.SuppressMessages();
    const ExitCode read = rehearsal.Run(&names_, &tree_, [&] { return &leaves_.emplace(question_.classes); });
    if (read != ExitCode::kUnreadable) boxes_ = BoxesOf(leaves_->weights());
    scan_.TakeFirstPasses(&rehearsal);
    return read;
  }
  std::optional<LiveLeafVisitor> live;
  const ExitCode read = scan_.Run(&names_, &tree_, [&] {
    leaves_.emplace(question_.classes);
    return &live.emplace(&*leaves_, LiveLeafVisitor::Question{scan_.stream(), question_.at, question_.least_age_ns});
  });
  if (read == ExitCode::kUnreadable) return read;
  tracked_ = live->tracked();
  boxes_ = BoxesOf(live->weights());
  estimates_ = live->EstimatesOf(boxes_);
  return read;
}

ExitCode FlameScan::EstimateBoxes() {
  if (question_.live) return ExitCode::kOk;
  BoxVisitor visitor(&*leaves_, &boxes_);
  const ExitCode read = scan_.Run(&*tree_, &visitor);
  for (FlameBoxTree::BoxId box = 0; box < boxes_.boxes().size(); ++box) {
    estimates_.push_back(visitor.Of(box));
    own_.push_back(visitor.OwnOf(box));
  }
  return read;
}

}  // namespace heaprec::tools
