#include "tools/rewrite/recording_copier.h"

#include <algorithm>
#include <ctime>
#include <vector>

#include "format/file_header.h"

namespace heaprec::tools {
namespace {

using format::Index;
using format::kNone;

constexpr uint64_t kChunkRawBytes = 8 << 20;  // docs/format/recording.md#bounds

uint64_t NowNs(const format::FileHeader& header) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return ns > header.start_monotonic_ns ? ns - header.start_monotonic_ns : 0;
}

// What was counted in the unit of the stream's weights.
uint64_t CountedOf(const format::StreamCounters& counters, format::Stream stream) {
  return format::CountsEvents(stream) ? counters.candidates : counters.candidate_bytes;
}

}  // namespace

RecordingCopier::RecordingCopier(const format::FileHeader& header, Output* output)
    : header_(header), output_(*output), before_(header.start.counters) {
  Append(format::EncodeFileHeader(header));
  StartChunk();
}

void RecordingCopier::StartChunk() {
  if (chunk_) Append(chunk_->ProtectRest());
  chunk_ = std::make_unique<format::ChunkWriter>(header_, next_chunk_++);
}

void RecordingCopier::Append(const format::ByteBuffer& bytes) {
  output_.Append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

uint64_t RecordingCopier::missing() const {
  uint64_t events = 0;
  for (const Missing& missing : missing_.of) events += missing.events;
  return events;
}

format::Result<bool> RecordingCopier::Write(const format::Result<format::ByteBuffer>& bytes) {
  if (!bytes.ok()) return bytes.error();
  Append(*bytes);
  output_.Tick();
  return true;
}

format::Result<bool> RecordingCopier::Add(const format::Block& block) {
  if (block.chunk != source_chunk_ || chunk_->raw_bytes() > kChunkRawBytes) {
    if (chunk_->raw_bytes() > 0) StartChunk();
    source_chunk_ = block.chunk;
  }
  for (const format::Stream stream : format::kAllStreams) NoteMissing(block, stream);
  before_ = block.counters;
  positions_ = block.lane_positions;
  chunk_->SetCensus(block.census_counters, block.census_positions);
  AddRows(block);
  end_ns_ = std::max(end_ns_, block.end_ns);
  return Write(chunk_->Flush(TrueCounters(block.counters), positions_, end_ns_));
}

// The weight of what is missing is what was counted meanwhile, and is neither in this block nor lost by another name:
// near enough for a loss.
void RecordingCopier::NoteMissing(const format::Block& block, format::Stream stream) {
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
  const uint64_t counted = CountedOf(now, stream) - std::min(CountedOf(now, stream), CountedOf(before, stream));
  const double known = weight + now.Since(before).AllLostWeight();
  missing_[stream].weight += std::max(static_cast<double>(counted) - known, 0.0);
}

format::PerStream<format::StreamCounters> RecordingCopier::TrueCounters(
    format::PerStream<format::StreamCounters> counters) const {
  constexpr auto kFailed = static_cast<size_t>(format::LossReason::kWriteFailed);
  for (const format::Stream stream : format::kAllStreams) {
    counters[stream].written -= std::min(counters[stream].written, missing_[stream].events);
    counters[stream].lost[kFailed] += missing_[stream].events;
    counters[stream].lost_weight[kFailed] += missing_[stream].weight;
  }
  return counters;
}

void RecordingCopier::AddRows(const format::Block& block) {
  const format::Dictionaries& names = *block.dictionaries;
  for (const format::Window& window : block.windows) chunk_->Add(window);
  for (const format::Interval& interval : block.intervals) chunk_->Add(interval);
  for (const format::ProcessState& state : block.states) chunk_->Add(state);
  for (format::Sample sample : block.samples) {
    Name(names, &sample);
    chunk_->Add(sample);
  }
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) chunk_->Add(lifecycle);
  for (format::CheckpointSample checkpoint_sample : block.live_checkpoint) {
    Name(names, &checkpoint_sample.sample);
    chunk_->Add(checkpoint_sample);
  }
  for (const format::CensusRow& row : block.census) chunk_->AddCensus(Named(names, row));
  for (const format::CensusRow& row : block.census_totals) chunk_->AddCensusTotal(Named(names, row));
}

format::CensusRow RecordingCopier::Named(const format::Dictionaries& names, format::CensusRow row) {
  if (row.thread != kNone) row.thread = chunk_->InternThread(names.threads[row.thread]);
  if (row.class_id != kNone) row.class_id = chunk_->InternClass(names.classes[row.class_id]);
  return row;
}

void RecordingCopier::Name(const format::Dictionaries& names, format::Sample* sample) {
  if (sample->thread != kNone) sample->thread = chunk_->InternThread(names.threads[sample->thread]);
  if (sample->class_id != kNone) sample->class_id = chunk_->InternClass(names.classes[sample->class_id]);
  if (sample->stack != kNone) sample->stack = Stack(names, sample->stack);
}

Index RecordingCopier::Stack(const format::Dictionaries& names, Index leaf) {
  std::vector<format::StackFrame> frames;
  bool truncated = false;
  for (Index at = leaf; at != kNone; at = names.stacks[at].parent) {
    const format::Frame& frame = names.frames[names.stacks[at].frame];
    const Index method = frame.method == kNone ? kNone : chunk_->InternMethod(names.methods[frame.method]);
    frames.push_back({method, frame.bci, frame.line, frame.type});
    truncated = names.stacks[at].truncated;
  }
  return chunk_->InternStack(frames, truncated);
}

format::Result<bool> RecordingCopier::End(const format::PerStream<format::StreamCounters>& counters,
                                          const format::EndMarker& ending) {
  return Write(chunk_->Finish(TrueCounters(counters), positions_, ending.time_ns, &ending));
}

format::Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output) {
  RecordingCopier rewriter(recording->header(), output);
  uint64_t end_ns = 0;
  while (auto block = recording->Next()) {
    end_ns = std::max(end_ns, block->end_ns);
    block->ending.reset();
    if (const auto added = rewriter.Add(*block); !added) return added.error();
    if (output->failed()) break;
  }
  if (recording->running()) end_ns = std::max(end_ns, NowNs(recording->header()));
  const format::EndMarker ending = recording->ending().value_or(format::EndMarker{end_ns, reason});
  if (const auto ended = rewriter.End(recording->counters_since_start(), ending); !ended) return ended.error();
  return Rewritten{recording->events(), rewriter.missing()};
}

}  // namespace heaprec::tools
