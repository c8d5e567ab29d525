// What is alive of a recording that tracked objects until they died, as a block of its own: the samples that live at a
// time, with what each then stands for as its weight, and the names that they need.
//
// Units:    as format/model/model.h.
// Memory:   150 bytes for each sample of a recording that tracked them, and all names; nothing of others.
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/codec/chunk_names.h"
#include "tools/export/exporter.h"
#include "tools/export/tracked_samples.h"

namespace heaprec::tools {

class LiveSamples {
 public:
  // With every recording.
  void Begin(const format::FileHeader& header);
  void Add(const FilteredBlock& filtered);
  // At the end of the recording. `at_ns`: as MomentOf.
  void End(uint64_t end_ns, uint64_t at_ns);

  // After End, until the next Begin; ascending in the time of birth. Its chunk is none of the recording's.
  const format::Block& block() const { return block_; }
  const std::vector<LiveDetail>& details() const { return details_; }  // of its samples

 private:
  // Of `names_`, by index of the chunk at hand; kNotYet: not asked for yet.
  using Indices = std::vector<format::Index>;
  struct Found {
    format::Sample sample;
    LiveDetail detail;
  };
  void Enter(const format::Block& block);
  format::Sample Named(const format::Sample& sample);
  format::Index Class(format::Index index);
  format::Index Thread(format::Index index);
  format::Index Stack(format::Index index);
  format::Index Method(format::Index index);
  // The same stack with a root that says that its object may be garbage.
  format::Index BelowNotKnown(format::Index stack);
  void MakeDictionaries();

  TrackedSamples<format::Sample> tracked_;
  format::ChunkNames names_;
  const format::Dictionaries* source_ = nullptr;
  uint32_t source_chunk_ = 0;
  Indices classes_, threads_, stacks_, methods_;
  format::Dictionaries dictionaries_;
  format::Block block_;
  std::vector<LiveDetail> details_;
};

}  // namespace heaprec::tools
