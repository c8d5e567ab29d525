// The samples of a recording that were followed until they died, with whatever an exporter wants to know of each.
//
// Memory:   80 bytes for each sample of a recording that followed them, and a Subject; nothing of others.
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/live/lifetimes.h"
#include "tools/export/exporter.h"

namespace heaprec::tools {

template <typename Subject>
class FollowedSamples {
 public:
  // With every recording.
  void Begin(const format::FileHeader& header) {
    lives_.reset();
    subjects_.clear();
    if (header.live_bound > 0) lives_.emplace(header);
  }
  // `subject_of`: of a sample of the block.
  template <typename SubjectOf>
  void Add(const FilteredBlock& filtered, SubjectOf&& subject_of) {
    if (!lives_) return;
    const format::Block& block = filtered.block;
    samples_.assign(block.samples.size(), Lives::kLeftOut);
    for (const format::Sample* sample : filtered.samples) {
      if (sample->stream() != format::Stream::kAllocations) continue;
      samples_[static_cast<size_t>(sample - block.samples.data())] = New(subject_of(*sample));
    }
    survivors_.assign(block.survivors.size(), Lives::kLeftOut);
    for (const format::Survivor* one : filtered.survivors) {
      if (lives_->Knows(one->sample.id)) continue;
      survivors_[static_cast<size_t>(one - block.survivors.data())] = New(subject_of(one->sample));
    }
    lives_->Add(block, samples_, survivors_);
  }
  // At the end of the recording: visits (lives, life, subject) of all.
  template <typename Visit>
  void End(uint64_t end_ns, Visit&& visit) {
    if (!lives_) return;
    lives_->Close(end_ns);
    for (const Life& life : lives_->all()) visit(*lives_, life, subjects_[life.subject]);
  }

 private:
  uint32_t New(Subject subject) {
    subjects_.push_back(std::move(subject));
    return static_cast<uint32_t>(subjects_.size() - 1);
  }

  std::optional<Lives> lives_;
  std::vector<Subject> subjects_;
  std::vector<uint32_t> samples_, survivors_;
};

}  // namespace heaprec::tools
