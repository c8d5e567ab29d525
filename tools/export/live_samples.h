// The live objects of a recording as one block: samples that are live at a time, with their weights at that time, and
// the names that they need.
//
// Units:    as format/model/model.h.
// Memory:   150 bytes per tracked sample, 48 per path, and all names; nothing for recordings without tracking.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/codec/chunk_names.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/export/exporter.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

// The tracked samples of a recording, of each stream that tracks them (objects, blocks, mappings), with additional data
// for the exporter.
//
// Memory:   80 bytes and a Subject per tracked sample that passes the filters.
template <typename Subject>
class TrackedSamples {
 public:
  // Call for every recording.
  void Begin(const format::FileHeader& header) {
    subjects_.clear();
    for (const format::Stream stream : format::kAllStreams) {
      lives_[stream].reset();
      if (header.MaxTracked(stream) > 0) lives_[stream].emplace(header, stream);
    }
  }
  // `subject_of`: returns the data for a sample of the block.
  template <typename SubjectOf>
  void Add(const FilteredBlock& filtered, SubjectOf&& subject_of) {
    const format::Block& block = filtered.block;
    samples_.assign(block.samples.size(), Lifetimes::kLeftOut);
    for (const format::Sample* sample : filtered.samples) {
      if (!lives_[sample->stream()]) continue;
      samples_[static_cast<size_t>(sample - block.samples.data())] = New(subject_of(*sample));
    }
    live_checkpoint_.assign(block.live_checkpoint.size(), Lifetimes::kLeftOut);
    for (const format::CheckpointSample* one : filtered.live_checkpoint) {
      const std::optional<Lifetimes>& lives = lives_[one->sample.stream()];
      if (!lives || lives->Knows(one->sample.id)) continue;
      live_checkpoint_[static_cast<size_t>(one - block.live_checkpoint.data())] = New(subject_of(one->sample));
    }
    for (std::optional<Lifetimes>& lives : lives_.of) {
      if (lives) lives->Add(block, samples_, live_checkpoint_);
    }
  }
  // Call at the end of the recording: visits (lives, life, subject) of all samples.
  template <typename Visit>
  void End(uint64_t end_ns, Visit&& visit) {
    for (std::optional<Lifetimes>& lives : lives_.of) {
      if (!lives) continue;
      lives->Close(end_ns);
      for (const Lifetime& life : lives->all()) visit(*lives, life, subjects_[life.subject]);
    }
  }

 private:
  uint32_t New(Subject subject) {
    subjects_.push_back(std::move(subject));
    return static_cast<uint32_t>(subjects_.size() - 1);
  }

  format::PerStream<std::optional<Lifetimes>> lives_;
  std::vector<Subject> subjects_;
  std::vector<uint32_t> samples_, live_checkpoint_;
};

class LiveSamples {
 public:
  // Call for every recording.
  void Begin(const format::FileHeader& header);
  void Add(const FilteredBlock& filtered);
  // Call at the end of the recording. `at_ns`: as returned by MomentOf. `survived`: minimum number of collections.
  void End(uint64_t end_ns, uint64_t at_ns, uint64_t survived);

  // Valid between End and the next Begin; ascending in the time of birth. Its chunk does not exist in the recording.
  const format::Block& block() const { return block_; }
  const std::vector<LiveDetail>& details() const { return details_; }  // of the block's samples

 private:
  struct Found {
    format::Sample sample;
    LiveDetail detail;
  };
  // A search of the heap, and the path of each sample that it found: a row of kPath with copied names.
  struct Search {
    format::ProcessState row;
    std::unordered_map<uint64_t, format::ProcessState> paths;
  };
  void AddPaths(const format::Block& block);
  // Returns the last search until then that found something; nullptr: none.
  const Search* SearchUntil(uint64_t at_ns) const;
  // Returns the stack with an additional root frame, which says that its object may be garbage.
  format::Index WithLivenessUnknownRoot(format::Index stack);

  TrackedSamples<format::Sample> tracked_;
  format::ChunkNames names_;
  uint32_t source_chunk_ = 0;
  CopiedNames<format::ChunkNames> copied_;
  format::Dictionaries dictionaries_;
  format::Block block_;
  std::vector<LiveDetail> details_;
  std::vector<Search> searches_;
};

// Wraps an exporter: passes one block per recording with its live samples, instead of all samples.
std::unique_ptr<Exporter> MakeLiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind);

}  // namespace heaprec::tools
