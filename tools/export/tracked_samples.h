// The samples of a recording that were tracked until they died, with whatever an exporter wants to know of each.
//
// Memory:   80 bytes for each sample of a recording that tracked them, and a Subject; nothing of others.
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/live/lifetimes.h"
#include "tools/export/exporter.h"

namespace heaprec::tools {

template <typename Subject>
class TrackedSamples {
 public:
  // With every recording.
  void Begin(const format::FileHeader& header) {
    lives_.reset();
    subjects_.clear();
    if (header.max_tracked_objects > 0) lives_.emplace(header);
  }
  // `subject_of`: of a sample of the block.
  template <typename SubjectOf>
  void Add(const FilteredBlock& filtered, SubjectOf&& subject_of) {
    if (!lives_) return;
    const format::Block& block = filtered.block;
    samples_.assign(block.samples.size(), Lifetimes::kLeftOut);
    for (const format::Sample* sample : filtered.samples) {
      if (sample->stream() != format::Stream::kAllocations) continue;
      samples_[static_cast<size_t>(sample - block.samples.data())] = New(subject_of(*sample));
    }
    live_checkpoint_.assign(block.live_checkpoint.size(), Lifetimes::kLeftOut);
    for (const format::CheckpointSample* one : filtered.live_checkpoint) {
      if (lives_->Knows(one->sample.id)) continue;
      live_checkpoint_[static_cast<size_t>(one - block.live_checkpoint.data())] = New(subject_of(one->sample));
    }
    lives_->Add(block, samples_, live_checkpoint_);
  }
  // At the end of the recording: visits (lives, life, subject) of all.
  template <typename Visit>
  void End(uint64_t end_ns, Visit&& visit) {
    if (!lives_) return;
    lives_->Close(end_ns);
    for (const Lifetime& life : lives_->all()) visit(*lives_, life, subjects_[life.subject]);
  }

 private:
  uint32_t New(Subject subject) {
    subjects_.push_back(std::move(subject));
    return static_cast<uint32_t>(subjects_.size() - 1);
  }

  std::optional<Lifetimes> lives_;
  std::vector<Subject> subjects_;
  std::vector<uint32_t> samples_, live_checkpoint_;
};

}  // namespace heaprec::tools
