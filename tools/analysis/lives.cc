#include "tools/analysis/lives.h"

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
    if (sample.stream() != stream_ || samples[i] == kLeftOut) continue;
    Born(sample, sample.weight_bytes() * raises_.Of(sample), samples[i], sample.time_ns);
  }
  for (const Fate& fate : block.fates) {
    if (fate.stream == stream_) End(fate);
  }
  for (const format::HeapState& state : block.states) {
    collections_.emplace_back(state.time_ns, state.collections);
  }
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

// The counter never falls; looks that were taken in late are put where they belong.
void Lives::CloseCollections() {
  std::sort(collections_.begin(), collections_.end());
  std::optional<uint64_t> most;
  std::erase_if(collections_, [&most](const auto& look) {
    if (most && look.second <= *most) return true;
    most = look.second;
    return false;
  });
}

void Lives::Close(uint64_t end_ns) {
  last_block_ns_ = end_ns;
  thresholds_.Close();
  CloseCollections();
  for (Life& life : all_) {
    if (life.end == LifeEnd::kAlive) life.end_ns = std::max(end_ns, life.from_ns);
    if (life.born_in == 0) life.born_in = CollectionsAt(life.birth_ns);
    if (life.end != LifeEnd::kDied) life.ended_in = CollectionsAt(life.end_ns);
  }
}

double Lives::WeightAt(const Life& life, uint64_t time_ns) const {
  double weight = std::max(life.weight, thresholds_.Highest(life.birth_ns + 1, time_ns));
  if (time_ns >= life.threshold_from_ns) weight = std::max(weight, life.threshold);
  return life.share * weight;
}

uint64_t Lives::SurvivedBy(const Life& life, uint64_t time_ns) const {
  const uint64_t counted = CollectionsAt(time_ns);
  const uint64_t begun = counted - std::min(counted, life.born_in);
  return life.end == LifeEnd::kDied ? std::min(begun, life.Survived()) : begun;
}

uint64_t Lives::CollectionsAt(uint64_t time_ns) const {
  const auto after = std::upper_bound(collections_.begin(), collections_.end(), time_ns,
                                      [](uint64_t time, const auto& look) { return time < look.first; });
  return after == collections_.begin() ? 0 : std::prev(after)->second;
}

}  // namespace heaprec::tools
