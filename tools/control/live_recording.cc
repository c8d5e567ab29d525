#include "tools/control/live_recording.h"

#include <fmt/format.h>
#include <time.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "format/codec/file_header.h"
#include "format/reader/reader.h"
#include "tools/control/written_recording.h"
#include "tools/input/confined_open.h"
#include "tools/input/file_source.h"
#include "tools/input/parallel_reader.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {
namespace {

// A recorder with nothing to say writes a block in 5 s all the same.
constexpr double kLongestSilence = 15;

// What the file says at its present end.
struct PresentEnd {
  uint64_t last_block_ns = 0;
  format::PerStream<format::StreamCounters> counters;  // since the start of the recording
};

// Reads it to its end, to know whether it has one; nullopt: it has ended.
std::optional<PresentEnd> EndOfRunning(ParallelReader* blocks) {
  PresentEnd end;
  while (const auto block = blocks->Next()) {
    if (block->ending) return std::nullopt;
    end.last_block_ns = block->end_ns;
    for (const format::Stream stream : format::kAllStreams) {
      end.counters[stream] = block->counters[stream].Since(blocks->header().start.counters[stream]);
    }
  }
  return end;
}

double SecondsSince(uint64_t monotonic_ns) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return now_ns > monotonic_ns ? static_cast<double>(now_ns - monotonic_ns) * 1e-9 : 0;
}

// What the ring says, or what can be told from the file alone.
WriteStatus WriteStatusOf(const format::FileHeader& header, const PresentEnd& end, const RingCopy* ring) {
  WriteStatus status;
  for (const format::Stream stream : format::kAllStreams) {
    const format::StreamCounters counters = ring != nullptr ? ring->counters(stream) : end.counters[stream];
    status.lost_samples += counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  if (ring == nullptr) {
    const double silence = SecondsSince(header.start_monotonic_ns + end.last_block_ns);
    if (silence > kLongestSilence) status.silent_seconds = silence;
  } else if (ring->unwritten_since_ns() != 0) {
    status.silent_seconds = SecondsSince(ring->unwritten_since_ns());
    status.error = std::strerror(ring->write_errno());
  }
  return status;
}

// The file may be anyone's: nothing is read before it is known to be a recording of this process, and no more than it
// has now, because its owner can make it longer meanwhile.
std::optional<LiveRecording> Examine(const Process& process, const std::string& link, const std::string& path) {
  if (!path.starts_with('/')) return std::nullopt;
  if (path.ends_with(format::kUnfinishedSuffix)) return std::nullopt;  // a copy that will replace the recording
  const Descriptor file = OpenRegularBelow("", link);
  if (!file.is_open()) return std::nullopt;
  const auto bytes = RecordingBytes(file);
  if (!bytes.ok()) return std::nullopt;
  const auto source = FileSource::Open(fmt::format("/proc/self/fd/{}", file.number()));
  if (!source.ok()) return std::nullopt;
  SliceSource slice(source->get(), 0, *bytes);
  auto reader = format::Reader::Open(&slice);
  if (!reader.ok() || (*reader)->header().pid != static_cast<uint32_t>(process.inner_pid)) return std::nullopt;
  ParallelReader blocks(&slice, std::move(*reader));
  const format::FileHeader& header = blocks.header();
  const std::string root = process.root();
  const auto opened = OpenedRing::Open(header.ring_path, header.recording_id, root);
  const auto ring = opened.ok() ? RingCopy::Of(*opened) : opened.error();
  const auto end = EndOfRunning(&blocks);
  if (!end) return std::nullopt;
  auto fresh = Recording::Open(link, root);
  if (!fresh.ok()) return std::nullopt;
  const auto& counters = end->counters[format::Stream::kAllocations];
  return LiveRecording{path, std::move(*fresh), ring.ok() ? ring->counters(format::Stream::kAllocations) : counters,
                       *bytes, WriteStatusOf(header, *end, ring.ok() ? &*ring : nullptr)};
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
