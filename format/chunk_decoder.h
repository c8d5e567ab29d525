// Decodes the blocks of one chunk, in order: decompresses, checks, and applies each section to what the chunk holds.
//
// Failure:  see Outcome. Memory is bounded by layout.h's constants, whatever the bytes say.
// Format:   docs/format.md#blocks
#pragma once

#include <cstdint>
#include <vector>

#include "format/block_stream.h"
#include "format/dictionary_codec.h"
#include "format/reader.h"
#include "format/sample_codec.h"

namespace heaprec::format {

class ChunkDecoder {
 public:
  enum class Outcome {
    kDecoded,
    kRefused,  // a critical part is unknown: this block is left out, the next ones can be decoded
    kDamaged,  // the rest of the chunk cannot be decoded
  };
  struct Decoded {
    Outcome outcome;
    const char* why;  // unless decoded
  };

  void StartChunk();
  // Fills all of `block` but its offset.
  Decoded Decode(const BlockHeader& header, Bytes payload, Block* block);

 private:
  enum class Applied { kYes, kUnknown, kMalformed };
  Applied Apply(uint64_t section, Bytes body, Block* block, bool* refused);

  BlockUnpacker unpacker_;
  DictionaryDecoder dictionaries_;
  SampleDecoder samples_;
  Books books_;
  std::vector<uint64_t> lanes_;
  ByteBuffer raw_;
};

}  // namespace heaprec::format
