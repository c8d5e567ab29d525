#include "format/writer/chunk_writer.h"

#include <algorithm>
#include <optional>

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/codec/block_rows.h"
#include "format/codec/census_codec.h"
#include "format/codec/dictionary_codec.h"
#include "format/codec/lifecycle_codec.h"
#include "format/codec/process_state_codec.h"
#include "format/codec/row_codec.h"
#include "format/codec/row_table.h"
#include "format/codec/sample_codec.h"
#include "format/writer/roll_up.h"

namespace heaprec::format {

struct ChunkWriter::State {
  State(const FileHeader& file, uint32_t sequence)
      : header{sequence, file.recording_id},
        packer(sequence, HeaderSeed(file.recording_id)),
        fields(EncodeHeaderFields(file)) {}

  Result<ByteBuffer> Block(const PerStream<StreamCounters>& counters, std::span<const uint64_t> lane_positions,
                           uint64_t now_ns, bool last, const EndMarker* ending, RowsAre rows_are);
  void EncodeDueRows();

  ChunkHeader header;
  BlockPacker packer;
  const ByteBuffer fields;  // header fields of the file
  bool started = false;
  DictionaryEncoder dictionaries;
  PerStream<SampleEncoder> samples{{SampleEncoder(Stream::kAllocations), SampleEncoder(Stream::kExceptions),
                                    SampleEncoder(Stream::kNative), SampleEncoder(Stream::kMapping)}};
  RowTable rows, outside;
  uint64_t rows_left = UINT64_MAX;
  uint32_t next_block = 0;
  std::optional<uint32_t> open_since;  // first block of the open row interval, if it has one
  RollUp roll_up;
  std::vector<ProcessState> states;
  std::vector<LifecycleEvent> lifecycle_events;
  std::vector<CheckpointSample> live_checkpoint;
  std::vector<CensusRow> census, census_totals;
  CensusCounters census_counters;
  uint64_t census_page = 0;
  uint64_t skipped_bytes = 0;
  uint64_t raw_bytes = 0;
  ByteBuffer raw;
  ParityWriter parity;
};

ChunkWriter::ChunkWriter(const FileHeader& header, uint32_t sequence)
    : state_(std::make_unique<State>(header, sequence)) {}
ChunkWriter::~ChunkWriter() = default;

Index ChunkWriter::InternClass(std::string_view name) { return state_->dictionaries.names().InternClass(name); }
Index ChunkWriter::InternMethod(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  return state_->dictionaries.names().InternMethod(class_name, name, descriptor);
}
Index ChunkWriter::InternMethod(const Method& method) {
  return InternMethod(method.class_name, method.name, method.descriptor);
}
Index ChunkWriter::InternStack(std::span<const StackFrame> leaf_first, bool truncated) {
  return state_->dictionaries.names().InternStack(leaf_first, truncated);
}
Index ChunkWriter::InternPath(std::span<const StackFrame> leaf_first, bool truncated) {
  return state_->dictionaries.names().InternPath(leaf_first, truncated);
}
Index ChunkWriter::InternThread(const Thread& thread) { return state_->dictionaries.names().InternThread(thread); }

void ChunkWriter::Add(const Sample& sample) { state_->samples[sample.stream()].Add(sample); }
void ChunkWriter::Add(const Window& window) {
  state_->samples[StreamOfWindow(window.id)].Add(window);
  state_->roll_up.Add(window);
}
void ChunkWriter::Add(const Interval& interval) {
  state_->samples[interval.stream].Add(interval);
  state_->roll_up.Add(interval);
}
void ChunkWriter::Add(const Row& row) { state_->rows.Add(row); }
void ChunkWriter::AddPoint(Index class_id, Index path, uint64_t size, double weight) {
  state_->rows.Add(class_id, path, size, weight);
}
void ChunkWriter::AddOutside(Index class_id, uint64_t objects, uint64_t bytes) {
  state_->outside.AddCounted(class_id, objects, bytes);
  state_->roll_up.AddOutside(class_id, objects, bytes);
}
void ChunkWriter::LoseRows() { state_->open_since = state_->next_block; }
void ChunkWriter::LimitRows(uint64_t left) { state_->rows_left = left; }
uint64_t ChunkWriter::rows_left() const { return state_->rows_left; }
void ChunkWriter::Add(const ProcessState& state) {
  state_->states.push_back(state);
  state_->roll_up.Add(state);
}
void ChunkWriter::Add(const LifecycleEvent& lifecycle) { state_->lifecycle_events.push_back(lifecycle); }
void ChunkWriter::Add(const CheckpointSample& checkpoint_sample) {
  state_->live_checkpoint.push_back(checkpoint_sample);
}
void ChunkWriter::AddCensus(const CensusRow& row) {
  state_->census.push_back(row);
  state_->roll_up.GiveUp();
}
void ChunkWriter::AddCensusTotal(const CensusRow& row) {
  state_->census_totals.push_back(row);
  state_->roll_up.GiveUp();
}
void ChunkWriter::SetCensus(const CensusCounters& counters, uint64_t page) {
  state_->census_counters = counters;
  state_->census_page = page;
}

void ChunkWriter::SetSkippedBytes(uint64_t bytes) {
  state_->skipped_bytes = bytes;
  state_->roll_up.GiveUp();
}

bool ChunkWriter::has_pending() const {
  return state_->dictionaries.has_pending() || !state_->rows.empty() || !state_->outside.empty() ||
         !state_->states.empty() || !state_->lifecycle_events.empty() || !state_->live_checkpoint.empty() ||
         !state_->census_totals.empty() ||
         std::ranges::any_of(state_->samples.of, [](const SampleEncoder& rows) { return rows.has_pending(); });
}
uint64_t ChunkWriter::raw_bytes() const { return state_->raw_bytes; }
size_t ChunkWriter::pending_rows() const { return state_->rows.size() + state_->outside.size(); }
uint64_t ChunkWriter::row_bytes() const { return pending_rows() * sizeof(Row); }
std::vector<Row> ChunkWriter::rows() const { return state_->dictionaries.Numbered(state_->rows.rows()); }
std::vector<Row> ChunkWriter::outside() const { return state_->dictionaries.Numbered(state_->outside.rows()); }
uint32_t ChunkWriter::next_block() const { return state_->next_block; }
uint64_t ChunkWriter::name_bytes() const { return state_->dictionaries.names().bytes(); }
const ChunkNames& ChunkWriter::names() const { return state_->dictionaries.names(); }
ChunkNames ChunkWriter::TakeNames() { return state_->dictionaries.TakeNames(); }

void ChunkWriter::State::EncodeDueRows() {
  std::vector<Row> due = rows.Take();
  if (due.size() > rows_left) {
    due.clear();
    rows_left = 0;
  }
  rows_left -= due.size();
  roll_up.Add(due);
  EncodeRows(Section::kRows, dictionaries.Numbered(std::move(due)), &raw);
  EncodeRows(Section::kOutside, dictionaries.Numbered(outside.Take()), &raw);
  if (open_since) EncodeRowInterval({*open_since, /*is_last=*/true}, &raw);
  open_since.reset();
}

Result<ByteBuffer> ChunkWriter::State::Block(const PerStream<StreamCounters>& now,
                                             std::span<const uint64_t> lane_positions, uint64_t now_ns, bool last,
                                             const EndMarker* ending, RowsAre rows_are) {
  if (!std::ranges::all_of(samples.of, &SampleEncoder::within_bounds) ||
      std::max({rows.size(), outside.size(), states.size(), lifecycle_events.size(), live_checkpoint.size(),
                census.size(), census_totals.size()}) > kMaxBlockRows)
    return Error{"more than 1048576 rows in a block"};
  if (lane_positions.size() > kMaxLanes) return Error{"more than 65536 lanes"};
  uint64_t begin_ns = UINT64_MAX;
  for (const SampleEncoder& rows : samples.of) begin_ns = std::min(begin_ns, rows.earliest_ns(UINT64_MAX));
  BlockPacker::Span span{begin_ns == UINT64_MAX ? now_ns : begin_ns, now_ns};
  raw.clear();
  if (started) {
    EncodeOffsets(dictionaries.encoded(), &raw);
  } else {
    AppendFramed(&raw, static_cast<uint64_t>(Section::kHeader), /*critical=*/false, fields);
  }
  dictionaries.Encode(&raw);
  for (const Stream stream : kAllStreams) {
    samples[stream].Encode(dictionaries, &raw);
    if (stream == Stream::kAllocations || !(now[stream] == StreamCounters{})) EncodeCounters(now[stream], stream, &raw);
  }
  if (rows_are == RowsAre::kOpen && !(rows.empty() && outside.empty())) {
    if (!open_since) open_since = next_block;
    EncodeRowInterval({*open_since, /*is_last=*/false}, &raw);
  } else {
    EncodeDueRows();
  }
  ++next_block;
  // They come lane by lane.
  std::ranges::stable_sort(states, {}, &ProcessState::id);
  for (ProcessState& state : states) state.stack = dictionaries.NumberOfStack(state.stack);
  EncodeStates(states, &raw);
  states.clear();
  for (CheckpointSample& tracked : live_checkpoint)
    tracked.sample.stack = dictionaries.NumberOfStack(tracked.sample.stack);
  for (const Stream stream : kAllStreams) {
    EncodeLifecycleEvents(lifecycle_events, stream, &raw);
    EncodeCheckpoint(live_checkpoint, stream, &raw);
  }
  lifecycle_events.clear();
  live_checkpoint.clear();
  EncodeCensus(Section::kCensus, census, &raw);
  census.clear();
  EncodeCensus(Section::kCensusTotals, census_totals, &raw);
  census_totals.clear();
  if (!(census_counters == CensusCounters{})) {
    EncodeCensusCounters(census_counters, &raw);
    EncodeCensusPage(census_page, &raw);
  }
  EncodeLanes(lane_positions, &raw);
  if (skipped_bytes > 0) EncodeSkippedBytes(skipped_bytes, &raw);
  if (ending != nullptr) EncodeEnding(*ending, &raw);
  raw_bytes += raw.size();
  ByteBuffer file;
  if (!std::exchange(started, true)) AppendTo(&file, header);
  // The last chunk has no roll-up: it is read block by block, because a ring may continue it.
  const bool is_summed_up = last && ending == nullptr && !roll_up.empty();
  span.flags =
      (last && !is_summed_up ? BlockHeader::kLastOfChunk : 0) | (ending != nullptr ? BlockHeader::kHasEndMarker : 0);
  if (auto packed = packer.Pack(raw, span, &file); !packed) return packed.error();
  if (is_summed_up) {
    raw.clear();
    roll_up.Encode(dictionaries.names(), now, lane_positions, &raw);
    span = {now_ns, now_ns, BlockHeader::kLastOfChunk | BlockHeader::kRollUp};
    if (auto packed = packer.Pack(raw, span, &file); !packed) return packed.error();
  }
  parity.Add(file);
  if (last) {
    parity.AppendLast(&file);
  } else {
    parity.AppendIfDue(now_ns, &file);
  }
  return file;
}

Result<ByteBuffer> ChunkWriter::Flush(const PerStream<StreamCounters>& counters,
                                      std::span<const uint64_t> lane_positions, uint64_t now_ns, RowsAre rows) {
  return state_->Block(counters, lane_positions, now_ns, /*last=*/false, nullptr, rows);
}

Result<ByteBuffer> ChunkWriter::Finish(const PerStream<StreamCounters>& counters,
                                       std::span<const uint64_t> lane_positions, uint64_t now_ns,
                                       const EndMarker* ending) {
  return state_->Block(counters, lane_positions, now_ns, /*last=*/true, ending, RowsAre::kDue);
}

ByteBuffer ChunkWriter::ProtectRest() {
  ByteBuffer file;
  state_->parity.AppendLast(&file);
  return file;
}

}  // namespace heaprec::format
