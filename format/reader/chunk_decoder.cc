#include "format/reader/chunk_decoder.h"

#include <algorithm>
#include <utility>

#include "format/bytes/columns.h"
#include "format/codec/block_rows.h"
#include "format/codec/census_codec.h"
#include "format/codec/lifecycle_codec.h"
#include "format/codec/process_state_codec.h"
#include "format/codec/row_codec.h"
#include "format/codec/sample_codec.h"
#include "format/reader/row_interval.h"

namespace heaprec::format {
namespace {

// Only the last block of a row interval has rows.
bool HasOwnRows(const Block& block, uint32_t sequence) {
  if (!block.row_interval) return true;
  if (block.row_interval->first > sequence) return false;
  return block.row_interval->is_last || (block.rows.empty() && block.outside.empty());
}

}  // namespace

void ChunkDecoder::StartChunk() {
  broken_ = false;
  starts_names_ = true;
  next_block_ = 0;
  dictionaries_ = {};
  counters_ = {};
  census_counters_ = {};
  census_page_ = 0;
  lanes_.clear();
}

void ChunkDecoder::StartBlock(uint32_t sequence) {
  rows_ = {};
  samples_ = {};
  knows_offsets_ = sequence == next_block_;
  next_block_ = sequence + 1;
}

// The payload matches its hash and is still invalid: later blocks must not build on what was decoded of it.
ChunkDecoder::Decoded ChunkDecoder::Damaged(const char* why) {
  broken_ = true;
  return {Outcome::kDamaged, why};
}

ChunkDecoder::Decoded ChunkDecoder::Decode(const BlockHeader& header, Bytes payload, Block* block) {
  if (broken_) return Damaged("block follows an invalid block");
  if (const char* why = unpacker_.Unpack(header, payload, &raw_)) return {Outcome::kDamaged, why};
  StartBlock(header.sequence);
  bool refused = false;
  uint64_t seen = 0;
  ByteCursor cursor(raw_);
  while (cursor.ok() && !cursor.at_end()) {
    const Framed section = TakeFramed(&cursor);
    if (!cursor.ok()) break;
    const uint64_t bit = section.number < 64 ? uint64_t{1} << section.number : 0;
    if ((std::exchange(seen, seen | bit) & bit) != 0) return Damaged("section twice in a block");
    if (!knows_offsets_ && section.number != static_cast<uint64_t>(Section::kDictionaryOffsets)) {
      return Damaged("block has no dictionary offsets");
    }
    const Applied applied = Apply(section.number, section.body, block, &refused);
    if (applied == Applied::kMalformed) return Damaged("malformed section in a block");
    refused |= applied == Applied::kUnknown && section.critical;
  }
  if (!cursor.ok()) return Damaged("malformed sections in a block");
  if (!HasOwnRows(*block, header.sequence)) return Damaged("rows of another row interval");
  MergeInto(block);
  if (!ApplySamples(block, &refused)) return Damaged("malformed section in a block");
  block->chunk = header.chunk;
  block->sequence = header.sequence;
  block->end_ns = header.end_ns;
  block->lost_names = dictionaries_.lost();
  block->counters = counters_;
  block->census_counters = census_counters_;
  block->lane_positions = lanes_;
  block->census_page = census_page_;
  block->dictionaries = &dictionaries_.dictionaries();
  // What was decoded is applied anyway, because later blocks of the chunk build on it.
  if (refused) return {Outcome::kRefused, "block needs a newer reader"};
  block->starts_names = std::exchange(starts_names_, false);
  return {Outcome::kDecoded, nullptr};
}

// Applies the number of entries that the dictionaries have before this block: missing ones were in lost blocks.
bool ChunkDecoder::ApplyDictionaryOffsets(Bytes body) {
  ByteCursor cursor(body);
  DictionaryCounts offsets{};
  for (uint64_t& count : offsets) count = cursor.Varint();
  knows_offsets_ = cursor.ok() && dictionaries_.FillUpTo(offsets);
  return knows_offsets_;
}

ChunkDecoder::Applied ChunkDecoder::Apply(uint64_t section, Bytes body, Block* block, bool* refused) {
  const auto known = [](bool well_formed) { return well_formed ? Applied::kYes : Applied::kMalformed; };
  switch (static_cast<Section>(section)) {
    case Section::kStrings:
    case Section::kClasses:
    case Section::kMethods:
    case Section::kFrames:
    case Section::kNodes:
    case Section::kThreads:
      return known(dictionaries_.Decode(static_cast<Section>(section), body, refused));
    case Section::kWindows:
    case Section::kIntervals:
    case Section::kSamples:
    case Section::kStreamCounters:
    case Section::kLifecycleEvents:
    case Section::kLiveCheckpoint:
      return ApplyToStream(static_cast<Section>(section), Stream::kAllocations, body, refused);
    case Section::kLanes:
      return known(DecodeLanes(body, &lanes_));
    case Section::kSkippedBytes:
      return known(DecodeSkippedBytes(body, &block->skipped_bytes));
    case Section::kEndMarker:
      return known(DecodeEnding(body, &block->ending));
    case Section::kDictionaryOffsets:
      return known(ApplyDictionaryOffsets(body));
    case Section::kHeader:
      return Applied::kYes;  // only needed if the file's header is damaged
    case Section::kStates:
      return known(DecodeStates(body, dictionaries_.dictionaries(), &block->states, refused));
    case Section::kCensus:
      return known(DecodeCensus(body, dictionaries_.dictionaries(), &block->census, refused));
    case Section::kCensusTotals:
      return known(DecodeCensus(body, dictionaries_.dictionaries(), &block->census_totals, refused));
    case Section::kCensusCounters:
      return known(DecodeCensusCounters(body, &census_counters_));
    case Section::kCensusPage:
      return known(DecodeCensusPage(body, &census_page_));
    case Section::kRows:
      return known(DecodeRows(body, dictionaries_.dictionaries(), &block->rows, refused));
    case Section::kOutside:
      return known(DecodeRows(body, dictionaries_.dictionaries(), &block->outside, refused));
    case Section::kRowInterval:
      return known(DecodeRowInterval(body, &block->row_interval));
  }
  const uint64_t stream = section / kStreamStride;
  if (stream == 0 || stream >= kStreams) return Applied::kUnknown;
  return ApplyToStream(static_cast<Section>(section % kStreamStride), static_cast<Stream>(stream), body, refused);
}

ChunkDecoder::Applied ChunkDecoder::ApplyToStream(Section section, Stream stream, Bytes body, bool* refused) {
  const auto known = [](bool well_formed) { return well_formed ? Applied::kYes : Applied::kMalformed; };
  StreamRows& rows = rows_[stream];
  switch (section) {
    case Section::kWindows:
      return known(DecodeWindows(body, &rows.windows, refused));
    case Section::kIntervals:
      return known(DecodeIntervals(body, stream, &rows.intervals, refused));
    case Section::kSamples:
      if (stream == Stream::kAllocations) {
        samples_ = body;
        return Applied::kYes;
      }
      return known(DecodeSamples(body, stream, dictionaries_.dictionaries(), rows.windows, rows.intervals,
                                 &rows.samples, refused));
    case Section::kStreamCounters:
      return known(DecodeCounters(body, &counters_[stream]));
    case Section::kLifecycleEvents:
      return known(DecodeLifecycleEvents(body, stream, &rows.lifecycle_events, refused));
    case Section::kLiveCheckpoint:
      return known(DecodeCheckpoint(body, stream, dictionaries_.dictionaries(), &rows.live_checkpoint, refused));
    default:
      return Applied::kUnknown;
  }
}

bool ChunkDecoder::ApplySamples(Block* block, bool* refused) {
  if (samples_.empty()) return true;
  const bool is_joined = block->row_interval.has_value();  // rows and samples cover different times
  if (leaves_out_ && !is_joined && leaves_out_(*block)) {
    block->samples_left_out = ByteCursor(samples_).Varint();
    return true;
  }
  const StreamRows& rows = rows_[Stream::kAllocations];
  std::vector<Sample> samples;
  if (!DecodeSamples(samples_, Stream::kAllocations, dictionaries_.dictionaries(), rows.windows, rows.intervals,
                     &samples, refused))
    return false;
  MergeByTime(std::move(samples), &block->samples);
  return true;
}

// Appends samples and lifecycle events of all streams, in order of time.
void ChunkDecoder::MergeInto(Block* block) {
  for (StreamRows& rows : rows_.of) {
    block->windows.insert(block->windows.end(), rows.windows.begin(), rows.windows.end());
    block->intervals.insert(block->intervals.end(), rows.intervals.begin(), rows.intervals.end());
    block->live_checkpoint.insert(block->live_checkpoint.end(), rows.live_checkpoint.begin(),
                                  rows.live_checkpoint.end());
    MergeByTime(std::move(rows.samples), &block->samples);
    MergeByTime(std::move(rows.lifecycle_events), &block->lifecycle_events);
  }
}

}  // namespace heaprec::format
