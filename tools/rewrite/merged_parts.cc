#include "tools/rewrite/merged_parts.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/walk.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/output.h"
#include "tools/text/temporary_folder.h"

namespace heaprec::tools {
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
