#include "tools/input/rotation_parts.h"

#include <algorithm>
#include <optional>

#include "format/reader/reader.h"
#include "tools/input/file_source.h"

namespace heaprec::tools {
namespace {

// A file and where it belongs; nullopt: not known, or read once only.
struct GivenFile {
  std::string path;
  std::optional<format::FileHeader> header;
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
  const auto is_next = [&](const GivenFile& one) {
    return !one.is_taken && one.header && one.header->recording_id == of.header->recording_id &&
           int64_t{one.header->start.part} == int64_t{of.header->start.part} + step;
  };
  const auto found = std::ranges::find_if(*files, is_next);
  return found != files->end() ? &*found : nullptr;
}

}  // namespace

std::vector<std::vector<std::string>> JoinParts(const std::vector<std::string>& paths) {
  if (paths.size() < 2) return {paths};
  std::vector<GivenFile> files;
  for (const std::string& path : paths) files.push_back({path, HeaderOf(path)});
  std::vector<std::vector<std::string>> groups;
  for (GivenFile& given : files) {
    if (given.is_taken) continue;
    GivenFile* part = &given;
    for (GivenFile* before = part; part->header && before != nullptr; before = Neighbour(*part, -1, &files))
      part = before;
    groups.emplace_back();
    while (part != nullptr) {
      part->is_taken = true;
      groups.back().push_back(part->path);
      part = part->header ? Neighbour(*part, 1, &files) : nullptr;
    }
  }
  return groups;
}

}  // namespace heaprec::tools
