// How Drain writes blocks and chunks, and what it does if it cannot.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/writer/chunk_writer.h"
#include "recorder/writer/drain.h"

namespace heaprec::writer {
namespace {

// Limit for heap memory while blocks cannot be written.
constexpr uint64_t kMaxWaitingBytes = 1 << 20;
constexpr uint64_t kMaxRowBytes = 4 << 20;
constexpr uint64_t kChunkRawBytes = 8 << 20;
// Limits the heap if every stack is new: dictionaries take most of it.
constexpr uint64_t kChunkDefinitionBytes = 2 << 20;
// Maximum number of a stream's intervals with lost samples, so that those of all streams fit into the reserved space.
constexpr size_t kMaxLostIntervals = 1024;

format::Interval Merged(const format::Interval& first, format::Interval second) {
  second.candidates += first.candidates;
  second.bytes += first.bytes;
  second.buffered += first.buffered;
  return second;
}

// Marks intervals as lost, because none of their samples was written. Sums adjacent ones if there are many.
void MakeLost(std::vector<format::Interval>* intervals) {
  for (format::Interval& interval : *intervals) interval.kept = 0, interval.tau = 0;
  while (intervals->size() > kMaxLostIntervals) {
    std::vector<format::Interval> merged;
    for (size_t i = 0; i < intervals->size(); i += 2) {
      const bool has_second = i + 1 < intervals->size();
      merged.push_back(has_second ? Merged((*intervals)[i], (*intervals)[i + 1]) : (*intervals)[i]);
    }
    *intervals = std::move(merged);
  }
}

}  // namespace

format::PerStream<Drain::Pending> Drain::AllPending() const {
  format::PerStream<Pending> all = pending_;
  if (!waiting_) return all;
  all = waiting_->counted;
  for (const format::Stream stream : streams_) all[stream] += pending_[stream];
  return all;
}

// The block's counters include the block itself; the ring's are updated when the block is in the file.
format::PerStream<format::StreamCounters> Drain::CountersWith(const format::PerStream<Pending>& counted) const {
  format::PerStream<format::StreamCounters> all;
  for (const format::Stream stream : streams_) {
    all[stream] = shared_counters_of_[stream].Snapshot();
    all[stream].written += counted[stream].written;
    all[stream].second_stage += counted[stream].second_stage;
    all[stream].untracked = counted[stream].untracked + untracked_[stream];
  }
  const format::RingStacks& stacks = ring_.header().stacks;
  format::StreamCounters& counters = all[format::Stream::kAllocations];
  counters.stacks_walked = stacks.walked.load(std::memory_order_relaxed);
  counters.stacks_from_jvmti = stacks.asked.load(std::memory_order_relaxed);
  counters.stack_mismatches = stacks.differed.load(std::memory_order_relaxed);
  all[format::Stream::kNative].unseen_allocators = ring_.header().unseen_allocators.load(std::memory_order_relaxed);
  const format::RingStackChunks& chunks = ring_.header().stack_chunks;
  counters.SetStackChunks(chunks.objects.load(std::memory_order_relaxed), chunks.bytes.load(std::memory_order_relaxed));
  return all;
}

bool Drain::Flush(uint64_t now_ns, const format::EndMarker* ending, RowsAre rows) {
  last_flush_ns_ = now_ns;
  if (waiting_ && !WriteWaiting()) {
    if (ending == nullptr && IsBacklogTooLarge()) DropBacklog(now_ns);
    return false;
  }
  AddLifecycleEvents();
  const uint64_t census_page = AddCensus(ending != nullptr);
  const std::vector<uint64_t> positions = consumer_.Positions(live_);
  const format::PerStream<format::StreamCounters> counters = CountersWithPending();
  const format::FileStart behind = StartBehind(now_ns, counters);
  const bool rotates = ending == nullptr && OpenNext(now_ns, behind, positions);
  const bool last = ending != nullptr || (!rotates && ChunkIsFull(now_ns));
  if (open_rows_.AreDue(*chunk_, PendingSamples(), SinceStart(now_ns)) || rotates) rows = RowsAre::kDue;
  auto block = last ? chunk_->Finish(counters, positions, SinceStart(now_ns), ending)
                    : chunk_->Flush(counters, positions, SinceStart(now_ns), rows);
  // Done before the block is in the file: from then on only the ring has the rows that the block leaves open.
  const OpenRows::Page open = open_rows_.Publish(next_chunk_ - 1, *chunk_);
  const bool written = block.ok() && Append(*block);
  if (!written && ending != nullptr) return false;
  if (written) {
    Account(std::exchange(pending_, {}), true);
    census_.Written(census_page);
    open_rows_.Written(open);
    behind_written_ = behind;
    if (rotates && EndFile(now_ns, counters, positions)) {
      callbacks_.on_new_chunk();
    } else if (ending == nullptr && (rotates || last)) {
      BeginChunk(now_ns, behind);
    }
    consumer_.Release(positions);
    return true;
  }
  if (rotates) store_.Resume(/*ended=*/false);
  waiting_ = Waiting{block.ok() ? std::move(*block) : format::ByteBuffer(),
                     std::exchange(pending_, {}),
                     positions,
                     census_page,
                     open,
                     behind,
                     last};
  // If the compressor fails, the data will never be written.
  if (!block.ok() || IsBacklogTooLarge()) {
    DropBacklog(now_ns);
  } else if (last) {
    BeginChunk(now_ns, behind);
  }
  return false;
}

bool Drain::OpenNext(uint64_t now_ns, format::FileStart start, const std::vector<uint64_t>& positions) {
  start.lane_positions = positions;
  return store_.OpenNext(SinceStart(now_ns), start);
}

bool Drain::ChunkIsFull(uint64_t now_ns) const {
  return store_.ChunkIsFull(SinceStart(now_ns)) || chunk_->raw_bytes() >= kChunkRawBytes ||
         name_bytes() - survivor_bytes_ >= kChunkDefinitionBytes;
}

// A separate block on which nothing depends: if it cannot be written, this file continues. First begins the next file
// with the emitted names: samples from writers that do not know of the new chunk yet refer to them, their definitions
// may have left the ring, and a reader of that file has no others.
bool Drain::EndFile(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters,
                    const std::vector<uint64_t>& positions) {
  const format::EndMarker rotation{SinceStart(now_ns), format::kEndRotated};
  const auto last = chunk_->Finish(counters, positions, SinceStart(now_ns), &rotation);
  AdoptChunk(store_.NextHeader(), now_ns);
  consumer_.CarryDefinitionsOver();
  const auto names = chunk_->Flush(counters, positions, SinceStart(now_ns));
  const bool has_names = names.ok() && store_.BeginNext(*names);
  const bool ended = (has_names || store_.BeginNext({})) && last.ok() && store_.Append(*last).ok();
  store_.Resume(ended);
  const std::lock_guard lock(mutex_);
  path_ = store_.path();
  ring_.SetRecordingPath(path_);
  return ended && has_names;
}

bool Drain::Append(std::span<const std::byte> block) {
  const auto written = store_.Append(block);
  if (written.ok()) {
    EndOutage();
  } else {
    NoteFailure(written.error().message);
  }
  return written.ok();
}

// A single failure may be transient.
void Drain::NoteFailure(const std::string& error) {
  if (!outage_) outage_ = Outage{.since_ns = callbacks_.now(), .lost_before = unwritten().lost_samples, .error = {}};
  outage_->error = error;
  format::RingHeader& header = ring_.header();
  header.write_errno.store(static_cast<uint32_t>(store_.failure()), std::memory_order_relaxed);
  header.unwritten_since_ns.store(outage_->since_ns, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    write_error_ = error;
  }
  if (++outage_->failures > 1) ReportOutage();
}

void Drain::EndOutage() {
  const auto ended = std::exchange(outage_, std::nullopt);
  if (!ended) return;
  ring_.header().unwritten_since_ns.store(0, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    write_error_.clear();
  }
  if (!ended->is_reported || !callbacks_.on_writing_resumed) return;
  callbacks_.on_writing_resumed(unwritten().lost_samples - ended->lost_before, callbacks_.now() - ended->since_ns);
}

void Drain::ReportOutage() {
  if (!outage_ || std::exchange(outage_->is_reported, true)) return;
  if (callbacks_.on_writing_stopped) callbacks_.on_writing_stopped(outage_->error);
}

// Reported even if the next fdatasync succeeds: the kernel reports a failed write of a page only once.
void Drain::ReportSyncFailure() {
  if (is_sync_failure_reported_ || !callbacks_.on_sync_failed) return;
  const int error = store_.sync_failure();
  if (error == 0) return;
  is_sync_failure_reported_ = true;
  callbacks_.on_sync_failed(fmt::format("{}: {}", store_.path(), std::strerror(error)));
}

bool Drain::WriteWaiting() {
  if (!Append(waiting_->block)) return false;
  const Waiting written = *std::exchange(waiting_, std::nullopt);
  Account(written.counted, true);
  census_.Written(written.census_page);
  open_rows_.Written(written.rows);
  behind_written_ = written.behind;
  if (written.ends_chunk) store_.BeginChunk(behind_written_);
  consumer_.Release(written.positions);
  return true;
}

uint64_t Drain::PendingSamples() const {
  uint64_t samples = 0;
  for (const format::Stream stream : streams_) samples += pending_[stream].written;
  return samples;
}

bool Drain::IsBacklogTooLarge() const {
  size_t intervals = 0;
  for (const format::Stream stream : streams_) intervals = std::max(intervals, pending_[stream].intervals.size());
  return consumer_.IsShortOfRoom(live_) || intervals > kMaxLostIntervals || chunk_->row_bytes() > kMaxRowBytes ||
         waiting_->block.size() + PendingSamples() * sizeof(format::Sample) > kMaxWaitingBytes ||
         name_bytes() - survivor_bytes_ > kChunkDefinitionBytes + kMaxWaitingBytes;
}

void Drain::LosePending() {
  format::PerStream<Pending> lost = AllPending();
  waiting_.reset();
  pending_ = {};
  Account(lost, false);
  for (TrackedSet& live : live_.of) (void)live.TakeLifecycleEvents();  // their samples are not in the next chunk
  for (const format::Stream stream : streams_) {
    MakeLost(&lost[stream].intervals);
    pending_[stream].intervals = std::move(lost[stream].intervals);
  }
}

void Drain::DropBacklog(uint64_t now_ns) {
  LosePending();
  // A file that begins with this chunk has the intervals of the lost data, because none of it was written earlier.
  BeginChunk(now_ns, behind_written_);
  for (const format::Stream stream : streams_) {
    for (const format::Interval& interval : pending_[stream].intervals) chunk_->Add(interval);
  }
  consumer_.Release(consumer_.Positions(live_));
  ReportOutage();
}

// If the last block cannot be written, the ring's file stays: it has all samples that the file lacks. Everything else,
// or everything if there is no ring, goes into the reserved space.
bool Drain::WriteEnd(uint64_t now_ns, const format::EndMarker& ending) {
  if (Flush(now_ns, &ending)) return true;
  ReportOutage();
  if (!ring_.path().empty()) {
    (void)WriteCounts(now_ns, nullptr);
    return false;
  }
  LosePending();
  LoseCensus();
  return WriteCounts(now_ns, &ending);
}

std::vector<uint64_t> Drain::Tails() const {
  std::vector<uint64_t> positions;
  for (uint32_t i = 0; i < ring_.lane_count(); ++i) {
    positions.push_back(ring_.lane(i).tail.load(std::memory_order_relaxed));  // only the drain writes it
  }
  return positions;
}

// Otherwise a reader without the ring would not see the outage, and would treat the file as complete.
void Drain::WriteProvisional(uint64_t now_ns) {
  if (!outage_) return;
  const std::vector<uint64_t> positions = Tails();
  const auto counts =
      CountsChunk(next_chunk_, positions)->Finish(CountersWith({}), positions, SinceStart(now_ns), nullptr);
  if (!counts.ok()) return;
  const uint64_t there = store_.provisional_bytes();
  store_.WriteProvisional(format::ProvisionalBlock(*counts, config_.header.recording_id, there));
}

bool Drain::WriteCounts(uint64_t now_ns, const format::EndMarker* ending) {
  const std::vector<uint64_t> positions = Tails();
  const uint32_t number = next_chunk_++;
  const auto counts = CountsChunk(number, positions)->Finish(CountersWith({}), positions, SinceStart(now_ns), ending);
  if (ending == nullptr && WriteNamedCounts(number, positions, now_ns)) return true;
  return counts.ok() && store_.AppendReserved(*counts).ok();
}

std::unique_ptr<format::ChunkWriter> Drain::CountsChunk(uint32_t number, const std::vector<uint64_t>& positions) const {
  format::FileStart start = behind_written_;
  start.lane_positions = positions;
  auto chunk = std::make_unique<format::ChunkWriter>(store_.HeaderFor(start), number);
  chunk->SetCensus(format::CountersOf(ring_.header().census), census_.written());
  const format::PerStream<Pending> left = AllPending();
  for (const format::Stream stream : streams_) {
    // A salvager closes the intervals whose samples are in the ring, and all later ones.
    for (const format::Interval& interval : left[stream].intervals) {
      if (interval.kept > 0 || interval.tau > 0) break;
      chunk->Add(interval);
    }
  }
  return chunk;
}

// The ring's samples refer to names emitted before a lost chunk. They are neither in the file nor in the ring; only the
// drain has them. Returns false without space for them.
bool Drain::WriteNamedCounts(uint32_t number, const std::vector<uint64_t>& positions, uint64_t now_ns) {
  consumer_.EndChunk();
  chunk_ = CountsChunk(number, positions);
  consumer_.NewChunk(chunk_.get(), number);
  consumer_.CarryDefinitionsOver();
  const auto block = chunk_->Finish(CountersWith({}), positions, SinceStart(now_ns), nullptr);
  return block.ok() && block->size() <= store_.reserved_room() && store_.AppendReserved(*block).ok();
}

void Drain::Account(const format::PerStream<Pending>& counted, bool written) {
  for (const format::Stream stream : streams_) {
    const Pending& pending = counted[stream];
    if (written) {
      shared_counters_of_[stream].Written(pending.written);
    } else {
      shared_counters_of_[stream].Lost(format::LossReason::kWriteFailed, pending.written, pending.weight);
    }
    shared_counters_of_[stream].SecondStage(pending.second_stage);
    if (written) untracked_[stream] += pending.untracked;
  }
}

// Later blocks will have the counters of open intervals.
format::FileStart Drain::StartBehind(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters) const {
  format::FileStart start;
  start.begin_ns = SinceStart(now_ns);
  start.next_interval = closed_intervals_;
  start.intervals_with_points = intervals_with_points_;
  for (const format::Stream stream : streams_) {
    format::StreamCounters& before = start.counters[stream] = counters[stream];
    const uint64_t open = before.committed - std::min(before.committed, before.SettledSamples());
    before.committed -= open;
    before.points -= std::min(before.points, open);
    before.candidates = at_last_close_[stream].candidates;
    before.candidate_bytes = at_last_close_[stream].candidate_bytes;
  }
  return start;
}

void Drain::BeginChunk(uint64_t now_ns, const format::FileStart& start) {
  AdoptChunk(store_.HeaderFor(start), now_ns);
  if (!waiting_) store_.BeginChunk(start);
  callbacks_.on_new_chunk();
}

void Drain::AdoptChunk(const format::FileHeader& header, uint64_t now_ns) {
  consumer_.EndChunk();
  const uint64_t at_first = config_.max_samples > 0 ? config_.max_samples : UINT64_MAX;
  const uint64_t rows_left = chunk_ ? chunk_->rows_left() : at_first;
  chunk_.reset();  // one compressor at a time
  chunk_ = std::make_unique<format::ChunkWriter>(header, next_chunk_);
  chunk_->LimitRows(rows_left);
  chunk_start_ns_ = now_ns;
  consumer_.NewChunk(chunk_.get(), next_chunk_++);
  chunk_->SetCensus(format::CountersOf(ring_.header().census), census_.written());
  AddCheckpoint();
}

}  // namespace heaprec::writer
