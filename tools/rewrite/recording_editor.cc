#include "tools/rewrite/recording_editor.h"

#include <algorithm>
#include <utility>

#include "tools/input/recording_kind.h"
#include "tools/input/salvage.h"
#include "tools/input/walk.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kChunkRawBytes = 8 << 20;  // docs/format/recording.md#bounds

}  // namespace

void MissingEvents::Note(const format::Block& block, bool after_damage) {
  if (after_damage) {
    for (const format::Stream stream : format::kAllStreams) Note(block, stream);
  }
  before_ = block.counters;
}

uint64_t MissingEvents::events() const {
  uint64_t events = 0;
  for (const Missing& missing : missing_.of) events += missing.events;
  return events;
}

format::PerStream<format::StreamCounters> MissingEvents::Corrected(
    format::PerStream<format::StreamCounters> counters) const {
  constexpr auto kFailed = static_cast<size_t>(format::LossReason::kWriteFailed);
  for (const format::Stream stream : format::kAllStreams) {
    counters[stream].written -= std::min(counters[stream].written, missing_[stream].events);
    counters[stream].lost[kFailed] += missing_[stream].events;
    counters[stream].lost_weight[kFailed] += missing_[stream].weight;
  }
  return counters;
}

// Estimates the weight of missing events: what was counted meanwhile, and is neither in this block nor counted as
// another loss.
void MissingEvents::Note(const format::Block& block, format::Stream stream) {
  const format::StreamCounters& now = block.counters[stream];
  const format::StreamCounters& before = before_[stream];
  uint64_t here = 0;
  double weight = 0;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != stream) continue;
    ++here;
    weight += sample.weight;
  }
  if (now.written < before.written + here) return;
  const uint64_t events = now.written - before.written - here;
  if (events == 0) return;
  missing_[stream].events += events;
  const format::StreamCounters since = now.Since(before);
  const double known = weight + since.AllLostWeight();
  missing_[stream].weight += std::max(static_cast<double>(since.Counted(stream)) - known, 0.0);
}

bool HasRows(const format::Block& block) {
  return !block.samples.empty() || !block.rows.empty() || !block.outside.empty() || !block.intervals.empty() ||
         !block.states.empty() || !block.lifecycle_events.empty() || !block.live_checkpoint.empty() ||
         !block.census_totals.empty();
}

RecordingEditor::RecordingEditor(const format::FileHeader& header, Output* output, NameMapper* names)
    : header_(header), output_(*output), missing_(header.start.counters), names_(names) {
  output_.Append(format::EncodeFileHeader(header));
}

void RecordingEditor::StartChunk() {
  chunk_ = std::make_unique<format::ChunkWriter>(header_, next_chunk_++);
  for (auto& [id, known] : windows_) known.written = false;
  names_.Clear();
}

Status RecordingEditor::Write(bool last, const format::EndMarker* ending) {
  const Pending pending = *std::exchange(pending_, std::nullopt);
  auto bytes = last ? chunk_->Finish(pending.counters, pending.lane_positions, pending.end_ns, ending)
                    : chunk_->Flush(pending.counters, pending.lane_positions, pending.end_ns);
  if (!bytes.ok()) return bytes.error();
  output_.Append(*bytes);
  return {};
}

Status RecordingEditor::Add(const format::Block& block, bool after_damage) {
  missing_.Note(block, after_damage);
  const bool is_of_next = block.chunk != source_chunk_;
  const bool next_chunk = chunk_ == nullptr || is_of_next || chunk_->raw_bytes() > kChunkRawBytes;
  const bool has_rows = HasRows(block);
  if (pending_ && (next_chunk || has_rows)) {
    auto written = Write(next_chunk, nullptr);
    if (!written.ok()) return written;
  }
  if (is_of_next) windows_.clear();
  source_chunk_ = block.chunk;
  if (next_chunk) StartChunk();
  for (const format::Window& window : block.windows) {
    windows_[window.id] = {window, false};
    // A later block may need what an omitted block defined.
    if (has_rows) AddWindow(window.id);
  }
  for (const format::Interval& interval : block.intervals) chunk_->Add(interval);
  names_.Enter(*block.dictionaries, chunk_.get());
  for (const format::ProcessState& state : block.states) chunk_->Add(names_.Named(state));
  for (const format::Sample& sample : block.samples) {
    AddWindow(sample.window);
    chunk_->Add(names_.Named(sample));
    ++samples_;
  }
  for (format::Row row : block.rows) {
    row.class_id = names_.Class(row.class_id);
    row.stack = names_.Stack(row.stack);
    chunk_->Add(row);
  }
  if (block.row_interval) chunk_->LoseRows();
  for (const format::Row& row : block.outside) chunk_->AddOutside(names_.Class(row.class_id), row.points, row.seen);
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) chunk_->Add(lifecycle);
  for (format::CheckpointSample checkpoint_sample : block.live_checkpoint) {
    checkpoint_sample.sample = names_.Named(checkpoint_sample.sample);
    chunk_->Add(checkpoint_sample);
  }
  for (const format::CensusRow& row : block.census) chunk_->AddCensus(Named(row));
  for (const format::CensusRow& row : block.census_totals) chunk_->AddCensusTotal(Named(row));
  for (const format::CensusRow& row : block.census_totals) census_bytes_ += row.bytes.counted;
  if (!(block.census_counters == format::CensusCounters{})) census_ = block.census_counters;
  if (has_rows) chunk_->SetCensus(block.census_counters, block.census_page);
  end_ns_ = std::max(end_ns_, block.end_ns);
  if (has_rows)
    pending_ = Pending{missing_.Corrected(block.counters), block.lane_positions, end_ns_, block.census_page};
  return {};
}

Status RecordingEditor::Finish(const format::PerStream<format::StreamCounters>& counters,
                               const format::EndMarker& ending, uint64_t skipped_bytes) {
  if (missing_.events() > 0) skipped_bytes = std::max<uint64_t>(skipped_bytes, 1);
  if (!pending_) pending_ = Pending{.counters = {}, .lane_positions = {}, .end_ns = end_ns_};
  if (chunk_ == nullptr) StartChunk();
  pending_->counters = missing_.Corrected(counters);
  chunk_->SetSkippedBytes(skipped_bytes);
  pending_->end_ns = std::max(pending_->end_ns, ending.time_ns);
  // Walks without a row may be in the next part.
  const bool has_all_rows = !format::ContinuesAfter(ending.reason) || skipped_bytes > 0;
  if (has_all_rows && !IsLaterPart(header_) && !(census_ == format::CensusCounters{})) {
    const bool was_cut_off = ending.reason == format::kEndRecovered;
    CountUnrecordedAsLost(header_.census, was_cut_off, census_bytes_, &census_);
    chunk_->SetCensus(census_, pending_->census_page);
  }
  return Write(/*last=*/true, &ending);
}

void RecordingEditor::AddWindow(uint32_t id) {
  const auto known = windows_.find(id);
  if (known == windows_.end() || std::exchange(known->second.written, true)) return;
  chunk_->Add(known->second.window);
}

format::CensusRow RecordingEditor::Named(format::CensusRow row) {
  row.thread = names_.Thread(row.thread);
  row.class_id = names_.Class(row.class_id);
  return row;
}

Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  return Rewrite(recording, recording->header(), nullptr, reason, output);
}

Result<Rewritten> Rewrite(Recording* recording, format::FileHeader header, NameMapper* names, const std::string& reason,
                          Output* output) {
  header.ring_path.clear();  // its contents are written
  RecordingEditor editor(header, output, names);
  Status added;
  Walk(recording, [&](const format::Block& block) {
    added = editor.Add(block, recording->misses_bytes());
    return added.ok() && !output->failed();
  });
  if (!added.ok()) return added.error();
  const auto finished =
      editor.Finish(recording->counters_since_start(), recording->EndingOfCopy(editor.end_ns(), reason),
                    recording->skipped_bytes_for_copy());
  if (!finished.ok()) return finished.error();
  return Rewritten{editor.samples(), editor.missing_events()};
}

}  // namespace heaprec::tools
