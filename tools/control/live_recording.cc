#include "tools/control/live_recording.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "format/codec/file_header.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {
namespace {

// A recorder with nothing to say writes a block in 5 s all the same.
constexpr double kLongestSilence = 15;

// Reads it to its end, to know whether it has one; the caller gets a fresh one. The time of the last block; none: it
// has ended.
std::optional<uint64_t> LastBlockOfRunning(Recording* recording) {
  uint64_t last_ns = 0;
  while (const auto block = recording->NextInFile()) last_ns = block->end_ns;
  return recording->ending() ? std::nullopt : std::optional(last_ns);
}

double SecondsSince(uint64_t monotonic_ns) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return now_ns > monotonic_ns ? static_cast<double>(now_ns - monotonic_ns) * 1e-9 : 0;
}

// What the ring says, or what can be told from the file alone.
WriteStatus WriteStatusOf(const Recording& recording, const RingCopy* ring, uint64_t last_block_ns) {
  WriteStatus status;
  for (const format::Stream stream : format::kAllStreams) {
    const format::StreamCounters counters = ring != nullptr ? ring->counters(stream) : recording.counters(stream);
    status.lost_samples += counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  if (ring == nullptr) {
    const double silence = SecondsSince(recording.header().start_monotonic_ns + last_block_ns);
    if (silence > kLongestSilence) status.silent_seconds = silence;
  } else if (ring->unwritten_since_ns() != 0) {
    status.silent_seconds = SecondsSince(ring->unwritten_since_ns());
    status.error = std::strerror(ring->write_errno());
  }
  return status;
}

std::optional<LiveRecording> Examine(const Process& process, const std::string& link, const std::string& path) {
  struct stat status {};
  if (path.ends_with(format::kUnfinishedSuffix)) return std::nullopt;  // a copy that will replace the recording
  if (!path.starts_with('/') || stat(link.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const std::string root = process.root();
  auto read = Recording::Open(link, root);
  if (!read.ok() || (*read)->header().pid != static_cast<uint32_t>(process.inner_pid)) return std::nullopt;
  const format::FileHeader& header = (*read)->header();
  const auto opened = OpenedRing::Open(header.ring_path, header.recording_id, root);
  const auto ring = opened.ok() ? RingCopy::Of(*opened) : opened.error();
  const auto last_block_ns = LastBlockOfRunning(read->get());
  if (!last_block_ns) return std::nullopt;
  auto fresh = Recording::Open(link, root);
  if (!fresh.ok()) return std::nullopt;
  return LiveRecording{
      path, std::move(*fresh), ring.ok() ? ring->counters(format::Stream::kAllocations) : (*read)->counters(),
      static_cast<uint64_t>(status.st_size), WriteStatusOf(**read, ring.ok() ? &*ring : nullptr, *last_block_ns)};
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
