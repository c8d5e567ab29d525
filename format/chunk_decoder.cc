#include "format/chunk_decoder.h"

#include <utility>

#include "format/block_rows.h"
#include "format/columns.h"

namespace heaprec::format {

void ChunkDecoder::StartChunk() {
  unpacker_.StartChunk();
  dictionaries_ = {};
  samples_ = {};
  books_ = {};
  lanes_.clear();
}

ChunkDecoder::Decoded ChunkDecoder::Decode(const BlockHeader& header, Bytes payload, Block* block) {
  if (const char* why = unpacker_.Unpack(header, payload, &raw_)) return {Outcome::kDamaged, why};
  bool refused = false;
  uint64_t seen = 0;
  ByteCursor cursor(raw_);
  while (cursor.ok() && !cursor.at_end()) {
    const Framed section = TakeFramed(&cursor);
    if (!cursor.ok()) break;
    const uint64_t bit = section.number < 64 ? uint64_t{1} << section.number : 0;
    if ((std::exchange(seen, seen | bit) & bit) != 0) return {Outcome::kDamaged, "section twice in a block"};
    const Applied applied = Apply(section.number, section.body, block, &refused);
    if (applied == Applied::kMalformed) return {Outcome::kDamaged, "malformed section in a block"};
    refused |= applied == Applied::kUnknown && section.critical;
  }
  if (!cursor.ok()) return {Outcome::kDamaged, "malformed sections in a block"};
  block->chunk = header.chunk;
  block->end_ns = header.end_ns;
  block->books = books_;
  block->lane_positions = lanes_;
  block->dictionaries = &dictionaries_.dictionaries();
  // What was understood is applied even so: the chunk's later blocks build on it.
  if (refused) return {Outcome::kRefused, "block needs a newer reader"};
  return {Outcome::kDecoded, nullptr};
}

ChunkDecoder::Applied ChunkDecoder::Apply(uint64_t section, Bytes body, Block* block, bool* refused) {
  const auto known = [](bool well_formed) { return well_formed ? Applied::kYes : Applied::kMalformed; };
  if (section > static_cast<uint64_t>(Section::kEnding)) return Applied::kUnknown;
  switch (static_cast<Section>(section)) {
    case Section::kStrings:
    case Section::kClasses:
    case Section::kMethods:
    case Section::kFrames:
    case Section::kNodes:
    case Section::kThreads:
      return known(dictionaries_.Decode(static_cast<Section>(section), body, refused));
    case Section::kWindows:
      return known(samples_.DecodeWindows(body, &block->windows, refused));
    case Section::kIntervals:
      return known(samples_.DecodeIntervals(body, &block->intervals, refused));
    case Section::kSamples:
      return known(
          samples_.DecodeSamples(body, dictionaries_.dictionaries(), block->intervals, &block->samples, refused));
    case Section::kBooks:
      return known(DecodeBooks(body, &books_));
    case Section::kLanes:
      return known(DecodeLanes(body, &lanes_));
    case Section::kEnding:
      return known(DecodeEnding(body, &block->ending));
  }
  return Applied::kUnknown;
}

}  // namespace heaprec::format
