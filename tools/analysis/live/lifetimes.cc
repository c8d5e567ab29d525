#include "tools/analysis/live/lifetimes.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
namespace heaprec::tools {

using format::Fate;
using format::FateKind;

void Lives::Add(const format::Block& block, std::span<const uint32_t> samples, std::span<const uint32_t> survivors) {
  AddSurvivors(block, survivors);
  raises_.Add(block);
  for (size_t i = 0; i < block.samples.size(); ++i) {
    const format::Sample& sample = block.samples[i];
    NoteBirth(sample);
    if (sample.stream() != stream_ || samples[i] == kLeftOut) continue;
    Born(sample, sample.weight_bytes() * raises_.Of(sample), samples[i], sample.time_ns);
  }
  for (const Fate& fate : block.fates) {
    if (fate.stream == stream_) End(fate);
  }
  for (const format::HeapState& state : block.states) clock_.Add(state);
  last_block_ns_ = std::max(last_block_ns_, block.end_ns);
}

// A chunk lists all that is alive when it begins. One whose first block is lost lists none.
void Lives::AddSurvivors(const format::Block& block, std::span<const uint32_t> subjects) {
  if (block.survivors.empty()) return;
  std::unordered_set<uint64_t> listed;
  for (size_t i = 0; i < block.survivors.size(); ++i) {
    const format::Survivor& survivor = block.survivors[i];
    if (survivor.sample.stream() != stream_) continue;
    listed.insert(survivor.sample.id);
    NoteBirth(survivor.sample);
    if (!Knows(survivor.sample.id)) {
      if (subjects[i] == kLeftOut) continue;
      Born(survivor.sample, survivor.sample.weight_bytes(), subjects[i], last_block_ns_);
      all_.back().born_in = survivor.collections;
    }
    Life& life = all_[followed_.at(survivor.sample.id)];
    if (life.size > survivor.left()) {  // what told of it is lost, or was before this file
      life.share *= static_cast<double>(survivor.left()) / static_cast<double>(life.size);
      life.size = survivor.left();
    }
    life.threshold = survivor.threshold;
    life.threshold_from_ns = last_block_ns_;
  }
  for (auto known = followed_.begin(); known != followed_.end();) {
    Life& life = all_[known->second];
    const bool is_lost = !listed.contains(known->first);
    if (is_lost) life.end = LifeEnd::kUnknown, life.end_ns = last_block_ns_;
    known = is_lost ? followed_.erase(known) : std::next(known);
  }
}

void Lives::NoteBirth(const format::Sample& sample) {
  if (is_range() && sample.stream() == stream_) births_.emplace(sample.id, sample.time_ns);
}

void Lives::Born(const format::Sample& sample, double weight, uint32_t subject, uint64_t from_ns) {
  if (!followed_.emplace(sample.id, all_.size()).second) return;
  Life life;
  life.birth_ns = sample.time_ns;
  life.from_ns = std::max(from_ns, sample.time_ns);
  life.size = sample.size;
  life.weight = weight;
  life.subject = subject;
  all_.push_back(life);
}

void Lives::End(const Fate& fate) {
  // Also of a sample that is of no interest: all competed.
  if (fate.kind == FateKind::kReleased) thresholds_.Add(fate.time_ns, fate.threshold);
  if (fate.kind == FateKind::kNotFollowed) ++not_followed_;
  const auto birth = births_.find(fate.sample);
  if (birth != births_.end()) {
    if (fate.kind == FateKind::kDied) clock_.AddDeath(birth->second, fate.time_ns);
    births_.erase(birth);
  }
  const auto found = followed_.find(fate.sample);
  if (found == followed_.end()) return;
  if (fate.kind == FateKind::kShrunk) return Shrink(fate, found->second);
  Life& life = all_[found->second];
  life.end = fate.kind == FateKind::kDied ? LifeEnd::kDied : LifeEnd::kReleased;
  life.end_ns = std::max(fate.time_ns, life.from_ns);
  life.ended_in = fate.collections;
  if (fate.kind == FateKind::kNotFollowed) {
    life.end_ns = life.from_ns;
    not_followed_bytes_ += life.weight;
  }
  followed_.erase(found);
}

void Lives::Shrink(const Fate& fate, size_t index) {
  Life& rest = all_[index];
  if (fate.left >= rest.size) return;
  Life gone = rest;
  const double left = static_cast<double>(fate.left) / static_cast<double>(rest.size);
  gone.size -= fate.left;
  gone.share *= 1 - left;
  gone.end = LifeEnd::kDied;
  gone.end_ns = std::max(fate.time_ns, gone.from_ns);
  rest.size = fate.left;
  rest.share *= left;
  all_.push_back(gone);
}

void Lives::Close(uint64_t end_ns) {
  last_block_ns_ = end_ns;
  thresholds_.Close();
  clock_.Close();
  births_.clear();
  for (Life& life : all_) {
    if (life.end == LifeEnd::kAlive) life.end_ns = std::max(end_ns, life.from_ns);
    // The recorder counts minor collections, too.
    const bool is_stored = life.born_in != 0 && !is_range();
    life.born_in = is_stored ? clock_.OfRecorded(life.born_in) : clock_.BegunBy(life.birth_ns);
    if (life.end != LifeEnd::kDied) {
      life.ended_in = clock_.EndedBy(life.end_ns);
    } else if (is_range()) {
      life.ended_in = life.end_ns > 0 ? clock_.EndedBy(life.end_ns - 1) : 0;
    } else {
      life.ended_in = clock_.OfRecorded(life.ended_in);
    }
  }
}

double Lives::WeightAt(const Life& life, uint64_t time_ns) const {
  double weight = std::max(life.weight, thresholds_.Highest(life.birth_ns + 1, time_ns));
  if (time_ns >= life.threshold_from_ns) weight = std::max(weight, life.threshold);
  return life.share * weight;
}

uint64_t Lives::SurvivedBy(const Life& life, uint64_t time_ns) const {
  const uint64_t ended = clock_.EndedBy(time_ns);
  const uint64_t survived = ended - std::min(ended, life.born_in);
  return life.end == LifeEnd::kDied ? std::min(survived, life.Survived()) : survived;
}

}  // namespace heaprec::tools
