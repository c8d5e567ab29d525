#include "format/writer/chunk_writer.h"

#include <algorithm>
#include <utility>

#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "format/codec/block_rows.h"
#include "format/codec/census_codec.h"
#include "format/codec/lifecycle_codec.h"
#include "format/codec/process_state_codec.h"
#include "format/codec/row_codec.h"

namespace heaprec::format {

ChunkWriter::ChunkWriter(const FileHeader& header, uint32_t sequence)
    : header_{sequence, header.recording_id},
      packer_(sequence, HeaderSeed(header.recording_id)),
      fields_(EncodeHeaderFields(header)) {}

void ChunkWriter::Add(const Window& window) {
  samples_[StreamOfWindow(window.id)].Add(window);
  roll_up_.Add(window);
}
void ChunkWriter::Add(const Interval& interval) {
  samples_[interval.stream].Add(interval);
  roll_up_.Add(interval);
}
void ChunkWriter::AddOutside(Index class_id, uint64_t objects, uint64_t bytes) {
  outside_.AddCounted(class_id, objects, bytes);
  roll_up_.AddOutside(class_id, objects, bytes);
}
void ChunkWriter::Add(const ProcessState& state) {
  states_.push_back(state);
  roll_up_.Add(state);
}
void ChunkWriter::AddCensus(const CensusRow& row) {
  census_.push_back(row);
  roll_up_.GiveUp();
}
void ChunkWriter::AddCensusTotal(const CensusRow& row) {
  census_totals_.push_back(row);
  roll_up_.GiveUp();
}
void ChunkWriter::SetCensus(const CensusCounters& counters, uint64_t page) {
  census_counters_ = counters;
  census_page_ = page;
}

void ChunkWriter::SetSkippedBytes(uint64_t bytes) {
  skipped_bytes_ = bytes;
  roll_up_.GiveUp();
}

bool ChunkWriter::has_pending() const {
  return dictionaries_.has_pending() || !rows_.empty() || !outside_.empty() || !states_.empty() ||
         !lifecycle_events_.empty() || !live_checkpoint_.empty() || !census_totals_.empty() ||
         std::ranges::any_of(samples_.of, [](const SampleEncoder& rows) { return rows.has_pending(); });
}

void ChunkWriter::EncodeDueRows() {
  std::vector<Row> due = rows_.Take();
  if (due.size() > rows_left_) {
    due.clear();
    rows_left_ = 0;
  }
  rows_left_ -= due.size();
  roll_up_.Add(due);
  EncodeRows(Section::kRows, dictionaries_.Numbered(std::move(due)), &raw_);
  EncodeRows(Section::kOutside, dictionaries_.Numbered(outside_.Take()), &raw_);
  if (open_since_) EncodeRowInterval({*open_since_, /*is_last=*/true}, &raw_);
  open_since_.reset();
}

Result<ByteBuffer> ChunkWriter::Flush(const PerStream<StreamCounters>& counters,
                                      std::span<const uint64_t> lane_positions, uint64_t now_ns, RowsAre rows) {
  return Block(counters, lane_positions, now_ns, /*last=*/false, nullptr, rows);
}

Result<ByteBuffer> ChunkWriter::Finish(const PerStream<StreamCounters>& counters,
                                       std::span<const uint64_t> lane_positions, uint64_t now_ns,
                                       const EndMarker* ending) {
  return Block(counters, lane_positions, now_ns, /*last=*/true, ending, RowsAre::kDue);
}

Result<ByteBuffer> ChunkWriter::Block(const PerStream<StreamCounters>& now, std::span<const uint64_t> lane_positions,
                                      uint64_t now_ns, bool last, const EndMarker* ending, RowsAre rows_are) {
  if (!std::ranges::all_of(samples_.of, &SampleEncoder::within_bounds) ||
      std::max({rows_.size(), outside_.size(), states_.size(), lifecycle_events_.size(), live_checkpoint_.size(),
                census_.size(), census_totals_.size()}) > kMaxBlockRows)
    return Error{"more than 1048576 rows in a block"};
  if (lane_positions.size() > kMaxLanes) return Error{"more than 65536 lanes"};
  uint64_t begin_ns = UINT64_MAX;
  for (const SampleEncoder& encoder : samples_.of) begin_ns = std::min(begin_ns, encoder.earliest_ns(UINT64_MAX));
  BlockPacker::Span span{begin_ns == UINT64_MAX ? now_ns : begin_ns, now_ns};
  raw_.clear();
  if (started_) {
    EncodeOffsets(dictionaries_.encoded(), &raw_);
  } else {
    AppendFramed(&raw_, static_cast<uint64_t>(Section::kHeader), /*critical=*/false, fields_);
  }
  dictionaries_.Encode(&raw_);
  for (const Stream stream : kAllStreams) {
    samples_[stream].Encode(dictionaries_, &raw_);
    if (stream == Stream::kAllocations || !(now[stream] == StreamCounters{}))
      EncodeCounters(now[stream], stream, &raw_);
  }
  if (rows_are == RowsAre::kOpen && !(rows_.empty() && outside_.empty())) {
    if (!open_since_) open_since_ = next_block_;
    EncodeRowInterval({*open_since_, /*is_last=*/false}, &raw_);
  } else {
    EncodeDueRows();
  }
  ++next_block_;
  // They come lane by lane.
  std::ranges::stable_sort(states_, {}, &ProcessState::id);
  for (ProcessState& state : states_) state.stack = dictionaries_.NumberOfStack(state.stack);
  EncodeStates(states_, &raw_);
  states_.clear();
  for (CheckpointSample& tracked : live_checkpoint_)
    tracked.sample.stack = dictionaries_.NumberOfStack(tracked.sample.stack);
  for (const Stream stream : kAllStreams) {
    EncodeLifecycleEvents(lifecycle_events_, stream, &raw_);
    EncodeCheckpoint(live_checkpoint_, stream, &raw_);
  }
  lifecycle_events_.clear();
  live_checkpoint_.clear();
  EncodeCensus(Section::kCensus, census_, &raw_);
  census_.clear();
  EncodeCensus(Section::kCensusTotals, census_totals_, &raw_);
  census_totals_.clear();
  if (!(census_counters_ == CensusCounters{})) {
    EncodeCensusCounters(census_counters_, &raw_);
    EncodeCensusPage(census_page_, &raw_);
  }
  EncodeLanes(lane_positions, &raw_);
  if (skipped_bytes_ > 0) EncodeSkippedBytes(skipped_bytes_, &raw_);
  if (ending != nullptr) EncodeEnding(*ending, &raw_);
  raw_bytes_ += raw_.size();
  ByteBuffer file;
  if (!std::exchange(started_, true)) AppendTo(&file, header_);
  // The last chunk has no roll-up: it is read block by block, because a ring may continue it.
  const bool is_summed_up = last && ending == nullptr && !roll_up_.empty();
  span.flags =
      (last && !is_summed_up ? BlockHeader::kLastOfChunk : 0) | (ending != nullptr ? BlockHeader::kHasEndMarker : 0);
  if (auto packed = packer_.Pack(raw_, span, &file); !packed) return packed.error();
  if (is_summed_up) {
    raw_.clear();
    roll_up_.Encode(dictionaries_.names(), now, lane_positions, &raw_);
    span = {now_ns, now_ns, BlockHeader::kLastOfChunk | BlockHeader::kRollUp};
    if (auto packed = packer_.Pack(raw_, span, &file); !packed) return packed.error();
  }
  parity_.Add(file);
  if (last) {
    parity_.AppendLast(&file);
  } else {
    parity_.AppendIfDue(now_ns, &file);
  }
  return file;
}

ByteBuffer ChunkWriter::ProtectRest() {
  ByteBuffer file;
  parity_.AppendLast(&file);
  return file;
}

namespace {

constexpr uint32_t kSkippableFrame = 0x184D2A50;  // zstd skips such a frame: this magic number, a u32 n, and n bytes
constexpr uint64_t kFrameHeaderBytes = 8;

}  // namespace

ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording, uint64_t at_least) {
  if (chunk.size() < kChunkHeaderBytes) return {};
  const Bytes block = chunk.subspan(kChunkHeaderBytes);
  const uint64_t seed = HeaderSeed(recording);
  auto header = DecodeBlockHeader(block, seed);
  if (!header || block.size() < kBlockHeaderBytes + header->payload_bytes) return {};
  ByteBuffer payload;
  ByteSink sink(&payload);
  sink.Append(block.subspan(kBlockHeaderBytes, header->payload_bytes));
  if (const uint64_t have = kBlockHeaderBytes + payload.size(); have < at_least) {
    const uint64_t skipped = std::max(at_least - have, kFrameHeaderBytes) - kFrameHeaderBytes;
    sink.U32(kSkippableFrame);
    sink.U32(static_cast<uint32_t>(skipped));
    payload.resize(payload.size() + skipped);
  }
  header->flags |= BlockHeader::kProvisional;
  header->payload_bytes = static_cast<uint32_t>(payload.size() + 1);
  header->payload_hash = Hash(payload);
  ByteBuffer bytes;
  AppendTo(&bytes, *header, seed);
  ByteSink(&bytes).Append(payload);
  return bytes;
}

}  // namespace heaprec::format
