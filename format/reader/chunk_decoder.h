// Decodes the blocks of one chunk, in order: decompresses and checks each, and applies its sections.
//
// Failure:  see Outcome. The limits of layout.h bound the memory, whatever the bytes say.
// Format:   docs/format/recording.md#blocks
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "format/bytes/block_stream.h"
#include "format/codec/dictionary_codec.h"
#include "format/reader/reader.h"

namespace heaprec::format {

class ChunkDecoder {
 public:
  enum class Outcome {
    kDecoded,
    kRefused,  // a critical part is unknown: this block is skipped, the next ones can be decoded
    kDamaged,  // this block cannot be decoded; is_broken() says whether later ones can
  };
  explicit ChunkDecoder(LeavesOut leaves_out = {}) : leaves_out_(std::move(leaves_out)) {}

  struct Decoded {
    Outcome outcome;
    const char* why;  // nullptr if decoded
  };

  void StartChunk();
  // Whether no later block of the chunk can be decoded.
  bool is_broken() const { return broken_; }
  // Fills all of `block` except its offset.
  Decoded Decode(const BlockHeader& header, Bytes payload, Block* block);

 private:
  enum class Applied { kYes, kUnknown, kMalformed };
  // Rows of one stream of a block; moved into the block once all its sections have been applied.
  struct StreamRows {
    std::vector<Window> windows;
    std::vector<Interval> intervals;
    std::vector<Sample> samples;
    std::vector<LifecycleEvent> lifecycle_events;
    std::vector<CheckpointSample> live_checkpoint;
  };
  Applied Apply(uint64_t section, Bytes body, Block* block, bool* refused);
  bool ApplyDictionaryOffsets(Bytes body);
  Applied ApplyToStream(Section section, Stream stream, Bytes body, bool* refused);
  void MergeInto(Block* block);
  // Applied last: whether the samples of allocations may be left out depends on the rest.
  bool ApplySamples(Block* block, bool* refused);
  void StartBlock(uint32_t sequence);
  Decoded Damaged(const char* why);

  const LeavesOut leaves_out_;
  bool broken_ = false;
  bool starts_names_ = true;  // no block since StartChunk has been decoded
  uint32_t next_block_ = 0;
  bool knows_offsets_ = false;  // of the current block
  BlockUnpacker unpacker_;
  DictionaryDecoder dictionaries_;
  PerStream<StreamCounters> counters_;
  CensusCounters census_counters_;
  uint64_t census_page_ = 0;
  PerStream<StreamRows> rows_;
  std::vector<uint64_t> lanes_;
  ByteBuffer raw_;
  Bytes samples_;  // section of the allocations, inside raw_
};

}  // namespace heaprec::format
