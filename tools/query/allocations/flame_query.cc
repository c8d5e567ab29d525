#include "tools/query/allocations/flame_query.h"

#include <algorithm>

namespace heaprec::tools {

void LeafVisitor::Begin(const format::FileHeader&) {
  chunk_ = format::kNone;
  now_.clear();
  of_sites_.Clear();
}

void LeafVisitor::Visit(const MatchedBlock& matched_block) {
  NoteNatives(matched_block);
  leaves_.clear();
  for (const WeightedSample* drawn : matched_block.drawn) {
    const CallTree::NodeId leaf = LeafOf(matched_block, *drawn);
    if (classes_) NoteClass(matched_block.tree.At(leaf).name);
    if (drawn->site == kNoSite) SubsetOf(leaf).Add(*drawn);
    leaves_.push_back(leaf);
  }
  of_sites_.Add(leaves_, matched_block.drawn);
}

void LeafVisitor::NoteClass(NamePool::Id name) {
  if (name != last_class_) class_names_.insert(name);
  last_class_ = name;
}

Subset& LeafVisitor::SubsetOf(CallTree::NodeId leaf) {
  if (leaf >= now_.size()) now_.resize(std::max<size_t>(leaf + size_t{1}, now_.size() * 3 / 2));
  return now_[leaf];
}

void LeafVisitor::End(const Estimator& estimator, double) {
  of_sites_.ForEach(estimator.calibration(), [this](CallTree::NodeId leaf, const Subset& of) { SubsetOf(leaf) += of; });
  Read& read = recordings_.emplace_back(Read{estimator});
  weights_.resize(std::max(weights_.size(), now_.size()));
  for (CallTree::NodeId leaf = 0; leaf < now_.size(); ++leaf) {
    if (now_[leaf].samples() == 0) continue;
    weights_[leaf] += estimator.factor() * now_[leaf].bytes();
    read.leaves.emplace_back(leaf, now_[leaf]);
  }
  now_ = {};
  of_sites_.Clear();
}

LeafVisitor::BoxTables LeafVisitor::EstimatesOf(const FlameBoxTree& tree) const {
  const std::vector<FlameBoxTree::Box>& boxes = tree.boxes();
  BoxTables tables;
  for (const Read& one : recordings_) {
    tables.all.Start();
    tables.own.Start();
    for (const auto& [leaf, sums] : one.leaves) {
      const FlameBoxTree::BoxId end = tree.Of(leaf);
      if (boxes[end].folded == 0) tables.own.Add(end, sums);
      for (FlameBoxTree::BoxId box = end; box != FlameBoxTree::kNone; box = boxes[box].parent)
        tables.all.Add(box, sums);
    }
    tables.all.Close(one.estimator);
    tables.own.Close(one.estimator);
  }
  return tables;
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
    if (life.subject == Lifetimes::kLeftOut || !lives_->IsLiveAt(life, at_ns, question_.survived)) continue;
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

ExitCode FlameScan::Run() {
  std::optional<LiveLeafVisitor> live;
  const ExitCode read = scan_.Run(&names_, &tree_, [&]() -> ScanVisitor* {
    leaves_.emplace(question_.classes);
    if (!question_.live) return &*leaves_;
    return &live.emplace(
        &*leaves_, LiveLeafVisitor::Question{scan_.stream(), question_.at, question_.survived, question_.least_age_ns});
  });
  if (read == ExitCode::kUnreadable) return read;
  if (live) {
    tracked_ = live->tracked();
    boxes_ = BoxesOf(live->weights());
    estimates_ = live->EstimatesOf(boxes_);
    return read;
  }
  boxes_ = BoxesOf(leaves_->weights());
  const LeafVisitor::BoxTables tables = leaves_->EstimatesOf(boxes_);
  for (FlameBoxTree::BoxId box = 0; box < boxes_.boxes().size(); ++box) {
    estimates_.push_back(tables.all.Of(box));
    own_.push_back(tables.own.Of(box));
  }
  return read;
}

}  // namespace heaprec::tools
