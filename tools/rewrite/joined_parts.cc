#include "tools/rewrite/joined_parts.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/recording.h"
#include "tools/rewrite/merged_parts.h"
#include "tools/text/output.h"
#include "tools/text/output_file.h"
#include "tools/text/temporary_folder.h"

namespace heaprec::tools {
namespace {

struct GivenFile {
  std::string path;
  std::optional<format::FileHeader> header;  // nullopt: not known, or read once only
  bool is_taken = false;
};

std::optional<format::FileHeader> HeaderOf(const std::string& path) {
  if (path == "-") return std::nullopt;
  const auto source = FileSource::Open(path);
  if (!source.ok()) return std::nullopt;
  const auto reader = format::Reader::Open(source->get());
  return reader.ok() ? std::optional((*reader)->header()) : std::nullopt;
}

// The file `step` parts away in the same recording; nullptr: it was not given.
GivenFile* Neighbour(const GivenFile& of, int step, std::vector<GivenFile>* files) {
  const auto found = std::ranges::find_if(*files, [&](const GivenFile& one) {
    return !one.is_taken && one.header && one.header->recording_id == of.header->recording_id &&
           int64_t{one.header->start.part} == int64_t{of.header->start.part} + step;
  });
  return found != files->end() ? &*found : nullptr;
}

// Where they are as one file, until the end of the process; nullopt: they cannot be joined.
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
  Output output((*file)->descriptor());
  const auto merged = MergeParts(of_one, &output);
  output.Flush();
  if (!merged.ok() || output.failed() || (*file)->Commit()) return std::nullopt;
  AddJoinedFile(path, parts);
  return path;
}

}  // namespace

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
