#include "tools/control/live_recording.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "format/file_header.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {
namespace {

// Read to its end to know whether it has one; the caller gets a fresh one.
bool HasEnded(Recording* recording) {
  while (recording->NextInFile()) {
  }
  return recording->ending().has_value();
}

std::optional<LiveRecording> Examine(const Process& process, const std::string& link, const std::string& path) {
  struct stat status {};
  if (path.ends_with(format::kUnfinishedSuffix)) return std::nullopt;  // a copy that will replace the recording
  if (!path.starts_with('/') || stat(link.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const std::string root = fmt::format("/proc/{}/root", process.pid);
  auto read = Recording::Open(link, root);
  if (!read.ok() || (*read)->header().pid != static_cast<uint32_t>(process.inner_pid)) return std::nullopt;
  const format::FileHeader& header = (*read)->header();
  const auto ring = RingCopy::Of(root + header.ring_path, header.recording_id);
  if (HasEnded(read->get())) return std::nullopt;
  auto fresh = Recording::Open(link, root);
  if (!fresh.ok()) return std::nullopt;
  return LiveRecording{path, std::move(*fresh),
                       ring.ok() ? ring->books(format::Stream::kAllocations) : (*read)->books(),
                       static_cast<uint64_t>(status.st_size)};
}

}  // namespace

std::optional<LiveRecording> FindLiveRecording(const Process& process) {
  std::error_code error;
  const std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", process.pid), error);
  for (const auto& entry : files) {
    const std::string path = std::filesystem::read_symlink(entry.path(), error);
    if (error) continue;
    if (auto found = Examine(process, entry.path(), path)) return found;
  }
  return std::nullopt;
}

}  // namespace heaprec::tools
