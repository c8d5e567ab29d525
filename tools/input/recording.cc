#include "tools/input/recording.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/time.h"
#include "format/reader/chunk_span.h"
#include "format/reader/recordings_in_file.h"
#include "tools/input/file_source.h"
#include "tools/input/stream_traits.h"
#include "tools/input/writer_process.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// A drain that writes once a second is overtaken in the first or second attempt.
constexpr int kMaxSalvageAttempts = 10;

bool HasPassed(const RingCopy& ring, const std::vector<uint64_t>& positions) {
  for (uint32_t lane = 0; lane < ring.view().lane_count(); ++lane) {
    if (ring.tail(lane) > (lane < positions.size() ? positions[lane] : 0)) return true;
  }
  return false;
}

// Returns the rows of an open row interval that ends with this block.
std::optional<format::RingRows> RowsOf(const RingCopy& ring, const format::Block& block) {
  if (ring.view().rows() == nullptr) return std::nullopt;
  const format::Dictionaries& names = *block.dictionaries;
  return format::RowsBehind(*ring.view().rows(), format::RowPageOf(block.chunk, block.sequence), names.classes.size(),
                            names.stacks.size());
}

void AddRows(const RingCopy& ring, format::Block* block) {
  auto rows = RowsOf(ring, *block);
  if (!rows) return;
  block->rows = std::move(rows->rows);
  block->outside = std::move(rows->outside);
  block->row_interval.reset();
}

uint64_t NowNs(const format::FileHeader& header) {
  const uint64_t ns = MonotonicNs();
  return ns > header.start_monotonic_ns ? ns - header.start_monotonic_ns : 0;
}

uint64_t Excess(uint64_t all, uint64_t known) { return all - std::min(all, known); }

// Samples that were committed and are neither written nor lost according to these counters.
uint64_t Unsettled(const format::StreamCounters& counters) {
  return Excess(counters.committed, counters.SettledSamples());
}

uint64_t EndOf(const std::vector<format::RecordingSpan>& spans, size_t index) {
  return index + 1 < spans.size() ? spans[index + 1].begin : UINT64_MAX;
}

ParallelReader::Known ChunksOf(format::RecordingSpan* span) {
  return std::make_shared<const format::ChunkSpans>(std::move(span->chunks));
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::OpenPart(std::shared_ptr<FileSource> source, Part part,
                                                       ParallelReader::Known chunks) {
  auto slice = std::make_unique<SliceSource>(source.get(), part.begin, part.end);
  auto reader = format::Reader::Open(slice.get());
  if (!reader.ok()) return reader.error();
  auto wide = std::make_unique<ParallelReader>(slice.get(), std::move(*reader), 0, chunks);
  return std::unique_ptr<Recording>(
      new Recording(std::move(source), std::move(part), std::move(slice), std::move(wide), std::move(chunks)));
}

Result<std::unique_ptr<Recording>> Recording::Again() const { return OpenPart(source_, part_, chunks_); }

Result<std::unique_ptr<Recording>> Recording::Open(const std::string& path, const std::string& root) {
  auto source = FileSource::Open(path);
  if (!source.ok()) return source.error();
  std::vector<format::RecordingSpan> spans = format::RecordingsIn(source->get());
  auto first = OpenPart(std::move(*source), {0, EndOf(spans, 0), root}, ChunksOf(&spans[0]));
  if (first.ok()) (*first)->others_ = spans.size() - 1;
  return first;
}

Result<std::unique_ptr<Recording>> Recording::OpenFirst(const std::string& path, const std::string& root,
                                                        uint64_t bytes) {
  auto source = FileSource::Open(path);
  if (!source.ok()) return source.error();
  return OpenPart(std::move(*source), {0, bytes, root}, nullptr);
}

Result<Recordings> Recording::OpenAll(const std::string& path) {
  auto opened = FileSource::Open(path);
  if (!opened.ok()) return opened.error();
  const std::shared_ptr<FileSource> source = std::move(*opened);
  std::vector<format::RecordingSpan> spans = format::RecordingsIn(source.get());
  if (spans.size() > format::kMaxRecordings) {
    return Error{fmt::format("{}: more than {} recordings in one file", path, Grouped(format::kMaxRecordings))};
  }
  Recordings recordings;
  for (size_t i = 0; i < spans.size(); ++i) {
    auto recording = OpenPart(source, {spans[i].begin, EndOf(spans, i), ""}, ChunksOf(&spans[i]));
    if (!recording.ok()) return recording.error();
    recordings.push_back(std::move(*recording));
  }
  return recordings;
}

Result<Recordings> Recording::OpenAll(const std::vector<std::string>& paths) {
  Recordings all;
  for (const std::string& path : paths) {
    auto of_file = OpenAll(path);
    if (!of_file.ok()) return of_file.error();
    std::ranges::move(*of_file, std::back_inserter(all));
  }
  return all;
}

Recording::Recording(std::shared_ptr<FileSource> source, Part part, std::unique_ptr<format::ByteSource> slice,
                     std::unique_ptr<ParallelReader> reader, ParallelReader::Known chunks)
    : source_(std::move(source)),
      part_(std::move(part)),
      slice_(std::move(slice)),
      reader_(std::move(reader)),
      header_(reader_->header()),
      chunks_(std::move(chunks)) {
  end_.lane_positions = header_.start.lane_positions;
  for (const format::Stream stream : format::kAllStreams) {
    end_.streams[stream].next_interval = header_.start.next_interval[stream];
    end_.streams[stream].intervals_with_points = header_.start.intervals_with_points[stream];
    end_.counters[stream] = header_.start.counters[stream];
  }
}

void Recording::LeaveOut(format::LeavesOut what) { reader_->LeaveOut(std::move(what)); }

void Recording::NoteCounters(const format::PerStream<format::StreamCounters>& since_start) {
  since_start_ = since_start;
  for (const format::Stream stream : format::kAllStreams) {
    counters_[stream] = since_start[stream].Since(header_.start.counters[stream]);
  }
}

void Recording::Note(const format::Block& block) {
  NoteCounters(block.counters);
  if (!(block.census_counters == format::CensusCounters{})) census_ = block.census_counters;
  for (const format::CensusRow& row : block.census_totals) census_bytes_ += row.bytes.counted;
  events_ += block.samples.size() + block.samples_left_out;
  ++blocks_;
  if (block.ending) ending_ = block.ending;
  if (block.skipped_bytes > 0) skipped_in_original_ = block.skipped_bytes;
}

std::optional<format::Block> Recording::NextInFile() {
  for (;;) {
    if (!std::exchange(has_begun_, true) && joins_) reader_->JoinRowIntervals();
    std::optional<format::Block> block = reader_->Next();
    if (!block) {
      if (ending_ || !FollowReplacement()) return block;
      continue;
    }
    if (was_replaced_ && block->chunk + 1 < end_.next_chunk) continue;
    if (was_replaced_ && block->chunk + 1 == end_.next_chunk && block->sequence < next_in_chunk_) continue;
    if (joins_) FindRows(&*block);
    NoteInFile(*block);
    return block;
  }
}

// If a recorder's file could not be written at the end, it began another chunk for its counters; the ring has the rows.
void Recording::FindRows(format::Block* block) const {
  if (!block->row_interval || block->row_interval->is_last) return;
  if (const auto ring = CopyRing(); ring.ok()) AddRows(*ring, block);
}

void Recording::NoteInFile(const format::Block& block) {
  next_in_chunk_ = block.sequence + 1;
  Note(block);
  end_.threads = std::max(end_.threads, static_cast<uint32_t>(block.dictionaries->threads.size()));
  end_.offset = reader_->position();
  for (const format::ProcessState& state : block.states) end_.states.Add(state.id);
  if (header_.tracks()) end_.tracked.Note(block);
  NoteEnd(block);
}

void Recording::NoteEnd(const format::Block& block) {
  end_.lane_positions = block.lane_positions;
  end_.census_page = block.census_page;
  end_.next_chunk = block.chunk + 1;
  end_.end_ns = std::max(end_.end_ns, block.end_ns);
  end_.counters = block.counters;
  for (const format::Stream stream : format::kAllStreams) NoteIntervals(block, stream);
  NoteCounted(block);
}

bool Recording::FollowReplacement() {
  if (!source_->IsReplaced()) return false;
  auto source = FileSource::Open(source_->name());
  if (!source.ok()) return false;
  auto slice = std::make_unique<SliceSource>(source->get(), 0, UINT64_MAX);
  auto reader = format::Reader::Open(slice.get());
  if (!reader.ok() || (*reader)->header().recording_id != header().recording_id ||
      (*reader)->header().start.part != header_.start.part) {
    return false;
  }
  reader_ = std::make_unique<ParallelReader>(slice.get(), std::move(*reader));
  slice_ = std::move(slice);
  source_ = std::move(*source);
  chunks_ = nullptr;
  has_begun_ = false;
  return was_replaced_ = true;
}

void Recording::NoteIntervals(const format::Block& block, format::Stream stream) {
  FileEnd::StreamEnd& end = end_.streams[stream];
  bool any = false;
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream) continue;
    end.next_interval = std::max(end.next_interval, interval.index + 1);
    if (interval.buffered > 0) ++end.intervals_with_points;
    any = true;
  }
  if (!any) return;
  const uint64_t begin_ns = (end.next_interval - 1) * header().CapOf(stream).interval_ns;
  end.latest_times.clear();
  for (auto sample = std::ranges::lower_bound(block.samples, begin_ns, {}, &format::Sample::time_ns);
       sample != block.samples.end(); ++sample) {
    if (sample->stream() == stream) end.latest_times.push_back(sample->time_ns);
  }
}

// Sums the rows. Rows of damaged blocks are also missing, but that is another kind of loss: after it the sums continue
// from the counters.
void Recording::NoteCounted(const format::Block& block) {
  for (const format::Interval& interval : block.intervals) {
    end_.streams[interval.stream].candidates += interval.candidates;
    end_.streams[interval.stream].bytes += interval.bytes;
  }
  const auto& ranges = skipped();
  skipped_before_ = std::min(skipped_before_, ranges.size());  // the file may have been replaced
  const bool is_damaged = std::any_of(ranges.begin() + static_cast<std::ptrdiff_t>(skipped_before_), ranges.end(),
                                      [](const auto& range) { return !range.repaired && !range.at_end; });
  skipped_before_ = ranges.size();
  if (!is_damaged) return;
  for (const format::Stream stream : format::kAllStreams) {
    end_.streams[stream].candidates = counters_[stream].candidates;
    end_.streams[stream].bytes = counters_[stream].candidate_bytes;
  }
}

std::optional<format::Block> Recording::Next() {
  while (!salvage_done_) {
    if (auto block = NextInFile()) return block;
    salvage_done_ = ending_ || !SalvageRing();
    if (ending_) TakeOpen(nullptr);
  }
  if (open_) return std::exchange(open_, std::nullopt);
  if (next_salvaged_ < salvaged_.blocks.size()) {
    format::Block block = std::move(salvaged_.blocks[next_salvaged_++]);
    Note(block);
    return block;
  }
  if (salvaged_.report.ring_found) {
    NoteCounters(salvaged_.counters);
    census_ = salvaged_.census;
  }
  SettleCensus();
  return std::nullopt;
}

// The counters of a later part include the rows of the earlier ones. Those of a whole recording need no correction.
void Recording::SettleCensus() {
  if (header_.census == format::CensusMode::kOff || IsLaterPart(header_)) return;
  if (ending_ ? !misses_bytes() : running()) return;
  CountUnrecordedAsLost(header_.census, /*was_cut_off=*/!ending_, census_bytes_, &census_);
}

std::vector<OpenedRing> Recording::OpenRings() const {
  std::vector<OpenedRing> rings;
  if (header().ring_path.empty()) return rings;
  const auto add = [&rings](Result<OpenedRing> ring) {
    if (ring.ok()) rings.push_back(std::move(*ring));
  };
  add(OpenedRing::Open(header().ring_path, header().recording_id, part_.root));
  if (const auto owner = source_->owner(); owner && part_.root.empty()) {
    const std::filesystem::path name = std::filesystem::path(header().ring_path).filename();
    std::error_code error;
    const std::filesystem::path given = source_->name(), real = std::filesystem::canonical(given, error);
    for (const std::filesystem::path& file : {given, real}) {
      add(OpenedRing::OpenOf(*owner, file.parent_path() / name, header().recording_id));
    }
  }
  std::ranges::stable_sort(rings, std::ranges::greater(),
                           [](const OpenedRing& ring) { return ring.status().heartbeat_ns; });
  return rings;
}

Result<RingCopy> Recording::CopyRing() const {
  Result<RingCopy> copy = Error{"the recording has no ring"};
  for (const OpenedRing& ring : OpenRings()) {
    copy = RingCopy::Of(ring);
    if (copy.ok()) break;
  }
  return copy;
}

// The drain writes a block before it moves the tails, so everything before a tail is in the file. The rows of an open
// interval are in the ring before the block is in the file, and until the next block is.
bool Recording::IsBehind(const RingCopy& ring) const {
  const format::Block* const open = reader_->open();
  if (HasPassed(ring, open != nullptr ? open->lane_positions : end_.lane_positions)) return true;
  return open != nullptr && ring.view().rows() != nullptr && running() && !RowsOf(ring, *open);
}

void Recording::TakeOpen(const RingCopy* ring) {
  open_ = reader_->TakeOpen();
  if (!open_) return;
  if (ring != nullptr) AddRows(*ring, &*open_);
  NoteInFile(*open_);
}

bool Recording::SalvageRing() {
  const auto ring = CopyRing();
  if (!ring.ok()) {
    TakeOpen(nullptr);
    AddUnwrittenLosses();
    return false;
  }
  if (IsBehind(*ring) && ++salvage_attempts_ < kMaxSalvageAttempts) return true;
  TakeOpen(&*ring);
  salvaged_ = Salvage(*ring, header(), end_, slice_.get(), running());
  return false;
}

// Reads the provisional block of a file that could not be written when its recorder was killed.
std::optional<format::Block> Recording::ProvisionalBlock() const {
  if (running() || skipped().empty() || !skipped().back().at_end) return std::nullopt;
  return format::ReadProvisionalBlock(slice_.get(), header(), skipped().back().begin);
}

// Returns how many points of a killed recorder are in no interval of the file: samples that only the ring had, which
// are removed from `committed`, and points in progress.
uint64_t Recording::MoveOpenSamplesToLost(format::Stream stream, format::StreamCounters* since_start) const {
  const format::StreamCounters& counters = counters_[stream];
  const uint64_t samples = Unsettled(counters);
  const uint64_t under_way = Excess(counters.points, counters.SettledPoints());
  since_start->committed -= samples;
  return samples + std::min(under_way, MaxPointsUnderWay(lane_count(), end_.threads));
}

// A block has the rows of all intervals that ended before it. The exception is the last block of a recording whose file
// could not be written: its counters go up to the end, but intervals whose samples are in the ring have no rows. In
// both cases the counters include the intervals that were open when the last block was written.
void Recording::AddUnwrittenLosses() {
  format::Block block;
  const auto provisional = ProvisionalBlock();
  if (provisional) {
    unwritten_ns_ = Excess(provisional->end_ns, end_.end_ns);
    NoteCounters(provisional->counters);
    NoteEnd(*provisional);
    block.intervals = provisional->intervals;
  }
  const auto misses_rows = [this](format::Stream stream) {
    const uint64_t length = header().CapOf(stream).interval_ns;
    return length > 0 && end_.end_ns >= (end_.streams[stream].next_interval + 1) * length;
  };
  // Without a ring no samples wait for their rows; a copy has no rows of salvaged intervals without samples.
  const bool could_write =
      !provisional && (header().ring_path.empty() || std::ranges::none_of(format::kAllStreams, misses_rows));
  if (could_write && running()) return;  // the ring is not visible from here, and more data may come
  block.counters = since_start_;
  for (const format::Stream stream : format::kAllStreams) {
    const uint64_t length = header().CapOf(stream).interval_ns;
    if (length == 0) continue;
    const FileEnd::StreamEnd& end = end_.streams[stream];
    const format::StreamCounters& counters = counters_[stream];
    const uint64_t candidates = Excess(counters.candidates, end.candidates);
    const uint64_t bytes = Excess(counters.candidate_bytes, end.bytes);
    const uint64_t lost = could_write ? MoveOpenSamplesToLost(stream, &block.counters[stream]) : Unsettled(counters);
    if (lost == 0 && (could_write || (candidates == 0 && bytes == 0))) continue;
    const uint64_t index = std::max(end.next_interval, (std::max<uint64_t>(end_.end_ns, 1) - 1) / length);
    block.intervals.push_back({index, candidates, bytes, could_write ? 0 : lost, 0, 0, stream});
    const auto reason =
        static_cast<size_t>(could_write ? format::LossReason::kKilled : format::LossReason::kWriteFailed);
    block.counters[stream].lost[reason] += lost;
    if (lost > 0) {
      block.counters[stream].lost_weight[reason] +=
          static_cast<double>(format::CountsEvents(stream) ? candidates : bytes);
    }
    if (!could_write && misses_rows(stream))
      unwritten_ns_ = std::max(unwritten_ns_, end_.end_ns - end.next_interval * length);
  }
  if (block.intervals.empty()) return;
  salvaged_.dictionaries = std::make_unique<format::Dictionaries>();
  block.dictionaries = salvaged_.dictionaries.get();
  block.chunk = end_.next_chunk;
  block.offset = end_.offset;
  block.end_ns = end_.end_ns;
  block.lane_positions = end_.lane_positions;
  block.census_page = end_.census_page;
  block.census_counters = census_;
  salvaged_.blocks.push_back(std::move(block));
}

bool Recording::running() const {
  if (ending_) return false;
  const std::vector<OpenedRing> rings = OpenRings();
  if (rings.empty()) return WriterIsAlive(header(), std::nullopt);
  const RingStatus& status = rings.front().status();
  return status.state != format::RingState::kClosed && WriterIsAlive(header(), status.heartbeat_ns);
}

bool Recording::is_over(std::chrono::seconds quiet) const {
  if (ending_) return !is_dump();
  if (!OpenRings().empty()) return !running();
  if (header().ring_path.empty() && running()) return false;
  struct stat status {};
  return stat(source_->name().c_str(), &status) != 0 || std::time(nullptr) - status.st_mtime > quiet.count();
}

bool Recording::is_settled() const {
  if (ending_) return !format::ContinuesAfter(ending_->reason);
  return salvaged_.report.ring_found && !running();
}

format::EndMarker Recording::EndingOfCopy(uint64_t end_ns, const std::string& reason) const {
  if (ending_) return *ending_;
  // The counters include intervals whose samples come later; nothing is lost.
  if (running()) return {std::max(end_ns, NowNs(header_)), format::kEndDump};
  return {end_ns, has_nothing() ? format::kEndNothingRecovered : reason};
}

bool Recording::was_ended_by_recorder() const {
  return ending_ && !is_dump() && ending_->reason != format::kEndRecovered &&
         ending_->reason != format::kEndNothingRecovered;
}

bool Recording::has_nothing() const {
  if (ending_) return ending_->reason == format::kEndNothingRecovered;
  return blocks_ == 0 && !salvaged_.report.ring_found && !running();
}

bool Recording::is_part() const { return IsLaterPart(header()) || (ending_ && ending_->reason == format::kEndTrim); }

uint64_t Recording::tail_bytes() const {
  if (skipped().empty() || !skipped().back().at_end) return 0;
  return skipped().back().end - skipped().back().begin;
}

bool Recording::damaged() const {
  return std::any_of(skipped().begin(), skipped().end(), [](const auto& range) { return !range.at_end; });
}

bool Recording::misses_own_bytes() const {
  return std::any_of(skipped().begin(), skipped().end(),
                     [](const auto& range) { return !range.at_end && !range.repaired; });
}

uint64_t Recording::skipped_bytes() const {
  uint64_t bytes = skipped_in_original_;
  for (const format::SkippedRange& range : skipped()) {
    bytes += range.at_end || range.repaired ? 0 : range.end - range.begin;
  }
  return bytes;
}

uint64_t Recording::repaired_bytes() const {
  uint64_t bytes = 0;
  for (const format::SkippedRange& range : skipped()) bytes += range.repaired ? range.end - range.begin : 0;
  return bytes;
}

}  // namespace heaprec::tools
