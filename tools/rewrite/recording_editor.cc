#include "tools/rewrite/recording_editor.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/recording.h"
#include "tools/input/salvage.h"
#include "tools/input/stream_traits.h"
#include "tools/text/output.h"

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

namespace {

// A part or a copy of a recording.
struct Part {
  Recording* recording;
  uint64_t begin_ns = 0;  // as in its header
  uint32_t first_chunk = 0;
  uint64_t last_ns = 0, samples = 0;
  bool has_ending = false;

  auto Begin() const { return std::pair(begin_ns, first_chunk); }
  // If two parts end together, the one with fewer samples was damaged or begins later; one without an end marker was
  // cut off.
  auto End() const { return std::tuple(last_ns, samples, has_ending); }
  // Whether it contains all of `other`.
  bool Contains(const Part& other) const { return Begin() <= other.Begin() && End() >= other.End(); }
  // Whether the block ends after the part's beginning.
  bool Reaches(const format::Block& block) const {
    return begin_ns > 0 ? block.end_ns > begin_ns : block.chunk >= first_chunk;
  }
};

Result<Part> PartOf(Recording* recording) {
  Part part{recording, recording->header().start.begin_ns};
  bool is_first = true;
  const auto again = WalkAgain(*recording, [&](const format::Block& block) {
    if (std::exchange(is_first, false)) part.first_chunk = block.chunk;
    part.last_ns = std::max(part.last_ns, block.end_ns);
    part.samples += block.samples.size();
  });
  if (!again.ok()) return again.error();
  part.has_ending = (*again)->ending().has_value();
  return part;
}

// In order of time, without parts that others contain: copies made by dump, or repeated files.
Result<std::vector<Part>> PartsOf(const std::vector<Recording*>& of_one) {
  if (of_one.size() == 1) return std::vector{Part{of_one.front()}};
  std::vector<Part> parts, needed;
  for (Recording* const recording : of_one) {
    const auto part = PartOf(recording);
    if (!part.ok()) return part.error();
    parts.push_back(*part);
  }
  std::ranges::stable_sort(parts, [](const Part& a, const Part& b) {
    return std::pair(a.Begin(), b.End()) < std::pair(b.Begin(), a.End());
  });
  for (const Part& part : parts) {
    if (needed.empty() || !needed.back().Contains(part)) needed.push_back(part);
  }
  return needed;
}

struct GivenFile {
  std::string path;
  std::optional<format::FileHeader> header;  // nullopt: unknown, or can be read only once
  bool is_taken = false;
};

std::optional<format::FileHeader> HeaderOf(const std::string& path) {
  if (path == "-") return std::nullopt;
  const auto source = FileSource::Open(path);
  if (!source.ok()) return std::nullopt;
  const auto reader = format::Reader::Open(source->get());
  return reader.ok() ? std::optional((*reader)->header()) : std::nullopt;
}

// Returns the file that is `step` parts away in the same recording; nullptr: not given.
GivenFile* Neighbour(const GivenFile& of, int step, std::vector<GivenFile>* files) {
  const auto found = std::ranges::find_if(*files, [&](const GivenFile& one) {
    return !one.is_taken && one.header && one.header->recording_id == of.header->recording_id &&
           int64_t{one.header->start.part} == int64_t{of.header->start.part} + step;
  });
  return found != files->end() ? &*found : nullptr;
}

// Joins them to one file, which exists until the process ends; nullopt: they cannot be joined.
std::optional<std::string> Join(const std::vector<std::string>& parts) {
  static std::vector<std::unique_ptr<TemporaryFolder>> folders;
  const auto recordings = Recording::OpenAll(parts);
  if (!recordings.ok() || recordings->size() != parts.size()) return std::nullopt;
  std::vector<Recording*> of_one;
  for (const auto& recording : *recordings) of_one.push_back(recording.get());
  auto folder = TemporaryFolder::Make();
  if (!folder.ok()) return std::nullopt;
  folders.push_back(std::move(*folder));
  const std::string path =
      std::filesystem::path(folders.back()->path()) / std::filesystem::path(parts.front()).filename();
  auto file = OutputFile::Open(path, /*overwrite=*/false);
  if (!file.ok()) return std::nullopt;
  Output& output = (*file)->output();
  const auto merged = MergeParts(of_one, &output);
  output.Flush();
  if (!merged.ok() || output.failed() || !(*file)->Commit()) return std::nullopt;
  AddJoinedFile(path, parts);
  return path;
}

}  // namespace

// Writes each part up to the beginning of the next one.
Result<uint64_t> MergeParts(const std::vector<Recording*>& of_one, Output* output) {
  const auto parts = PartsOf(of_one);
  if (!parts.ok()) return parts.error();
  format::FileHeader merged = parts->front().recording->header();
  merged.ring_path.clear();  // its contents are written
  RecordingEditor editor(merged, output);
  for (size_t i = 0; i < parts->size(); ++i) {
    const Part* const next = i + 1 < parts->size() ? &(*parts)[i + 1] : nullptr;
    editor.StartFile();
    bool may_miss_part = i > 0;  // a part between this and the previous one may be missing
    Status added;
    Recording* const part = (*parts)[i].recording;
    Walk(part, [&](const format::Block& block) {
      if (next != nullptr && next->Reaches(block)) return true;
      added = editor.Add(block, std::exchange(may_miss_part, false) || part->misses_bytes());
      return added.ok();
    });
    if (!added.ok()) return added.error();
  }
  const Recording& last = *parts->back().recording;
  uint64_t skipped_bytes = 0;
  for (const Part& part : *parts) skipped_bytes += part.recording->skipped_bytes_for_copy();
  format::EndMarker ending = last.EndingOfCopy(editor.end_ns());
  if (editor.end_ns() > 0 && ending.reason == format::kEndNothingRecovered) ending.reason = format::kEndRecovered;
  auto finished = editor.Finish(last.counters_since_start(), ending, skipped_bytes);
  if (!finished.ok()) return finished.error();
  return editor.samples();
}

std::vector<std::string> JoinParts(const std::vector<std::string>& paths) {
  if (paths.size() < 2) return paths;
  std::vector<GivenFile> files;
  for (const std::string& path : paths) files.push_back({path, HeaderOf(path)});
  std::vector<std::string> all;
  for (GivenFile& given : files) {
    if (given.is_taken) continue;
    GivenFile* part = &given;
    for (GivenFile* before = part; part->header && before != nullptr; before = Neighbour(*part, -1, &files))
      part = before;
    std::vector<std::string> parts;
    while (part != nullptr) {
      part->is_taken = true;
      parts.push_back(part->path);
      part = part->header ? Neighbour(*part, 1, &files) : nullptr;
    }
    const auto joined = parts.size() > 1 ? Join(parts) : std::nullopt;
    all.insert(all.end(), parts.begin(), joined ? parts.begin() : parts.end());
    if (joined) all.push_back(*joined);
  }
  return all;
}

}  // namespace heaprec::tools
