#include "tools/control/live_recording.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "format/bytes/layout.h"
#include "format/codec/file_header.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {
namespace {

// A recorder without data still writes a block every 5 s.
constexpr double kLongestSilence = 15;

double SecondsSince(uint64_t monotonic_ns) {
  const uint64_t now_ns = MonotonicNs();
  return now_ns > monotonic_ns ? static_cast<double>(now_ns - monotonic_ns) * 1e-9 : 0;
}

// Returns the ring's status, or what the file alone shows. `recording`: read to its current end, where its last block
// has the time `last_ns`.
WriteStatus WriteStatusOf(const Recording& recording, uint64_t last_ns, const RingCopy* ring) {
  WriteStatus status;
  for (const format::Stream stream : format::kAllStreams) {
    const format::StreamCounters counters = ring != nullptr ? ring->counters(stream) : recording.counters(stream);
    status.lost_samples += counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  if (ring == nullptr) {
    const double silence = SecondsSince(recording.header().start_monotonic_ns + last_ns);
    if (silence > kLongestSilence) status.silent_seconds = silence;
  } else if (ring->unwritten_since_ns() != 0) {
    status.silent_seconds = SecondsSince(ring->unwritten_since_ns());
    status.error = std::strerror(ring->write_errno());
  }
  return status;
}

// The file may belong to anyone: reads nothing before it is known to be a recording of this process, and not more than
// its current size, because its owner can extend it meanwhile.
std::optional<LiveRecording> Examine(const Process& process, const std::string& link, const std::string& path) {
  if (!path.starts_with('/')) return std::nullopt;
  if (path.ends_with(format::kUnfinishedSuffix)) return std::nullopt;  // a copy that will replace the recording
  const Descriptor file = OpenRegularBelow("", link);
  if (!file.is_open()) return std::nullopt;
  const auto bytes = RecordingBytes(file);
  if (!bytes.ok()) return std::nullopt;
  const std::string root = process.root();
  const auto present = Recording::OpenFirst(fmt::format("/proc/self/fd/{}", file.number()), root, *bytes);
  if (!present.ok()) return std::nullopt;
  Recording& recording = **present;
  recording.TakeAsWritten();
  const format::FileHeader& header = recording.header();
  if (header.pid != static_cast<uint32_t>(process.inner_pid)) return std::nullopt;
  const auto opened = OpenedRing::Open(header.ring_path, header.recording_id, root);
  const auto ring = opened.ok() ? RingCopy::Of(*opened) : opened.error();
  uint64_t last_ns = 0;
  TimeToFull full;
  while (const auto block = recording.NextInFile()) {
    last_ns = block->end_ns;
    full.Add(*block);
  }
  if (recording.ending()) return std::nullopt;
  auto fresh = Recording::OpenFirst(link, root);
  if (!fresh.ok() || (*fresh)->header().recording_id != header.recording_id) return std::nullopt;
  const WriteStatus status = WriteStatusOf(recording, last_ns, ring.ok() ? &*ring : nullptr);
  const auto& counters = ring.ok() ? ring->counters(format::Stream::kAllocations) : recording.counters();
  return LiveRecording{path, std::move(*fresh), counters, *bytes, status, full.Soonest()};
}

}  // namespace

Result<uint64_t> RecordingBytes(const Descriptor& file) {
  std::array<std::byte, format::kFilePrefixBytes> prefix{};
  const ssize_t got = pread(file.number(), prefix.data(), prefix.size(), 0);
  RETURN_IF_ERROR(format::FileHeaderBytes(format::Bytes(prefix).first(static_cast<size_t>(std::max<ssize_t>(got, 0)))));
  // Reads the size first: data that is added later is beyond it and not a hole.
  struct stat status {};
  const bool has_size = fstat(file.number(), &status) == 0;
  const off_t hole = lseek(file.number(), 0, SEEK_HOLE);  // the end, if there is none; -1: unknown
  if (!has_size || lseek(file.number(), 0, SEEK_SET) != 0) {
    return Error{std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe): one thread
  }
  if (hole >= 0 && hole < status.st_size)
    return Error{"not a complete heaprec recording: the file is sparse, which the agent never writes"};
  return static_cast<uint64_t>(status.st_size);
}

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
