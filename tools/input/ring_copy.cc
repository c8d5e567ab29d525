#include "tools/input/ring_copy.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/input/confined_open.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {
namespace {
using format::RingHeader;

// A ring is at most 34 MiB with a census; what claims to be far more is none.
constexpr size_t kMaxRingBytes = size_t{64} << 20;

bool ReadExactly(int descriptor, std::byte* into, size_t size, size_t offset) {
  while (size > 0) {
    const ssize_t got = pread(descriptor, into, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    offset += static_cast<size_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

// The lane's header as it is now in the file; an all-zero one if the file has gone.
std::pair<uint64_t, uint64_t> HeadAndTail(int descriptor, size_t offset) {
  uint64_t words[2] = {0, 0};
  static_assert(offsetof(format::LaneHeader, head) == 0 && offsetof(format::LaneHeader, tail) == 8);
  if (!ReadExactly(descriptor, reinterpret_cast<std::byte*>(words), sizeof words, offset)) return {0, 0};
  return {words[0], words[1]};
}

// As RingView::Of has checked it. Of modules that change meanwhile none are taken.
bool ReadModules(int descriptor, size_t offset, std::byte* into) {
  if (!ReadExactly(descriptor, into, sizeof(format::RingModules), offset)) return false;
  static_assert(offsetof(format::RingModules, sequence) == 0);
  uint32_t after = 0;
  if (!ReadExactly(descriptor, reinterpret_cast<std::byte*>(&after), sizeof after, offset)) return false;
  auto* const modules = reinterpret_cast<format::RingModules*>(into);
  if (modules->sequence != after) modules->sequence = 1;
  return true;
}

// Likewise. Of pages that change meanwhile none are taken.
bool ReadRows(int descriptor, size_t offset, std::byte* into) {
  if (!ReadExactly(descriptor, into, sizeof(format::RingRowPages), offset)) return false;
  static_assert(offsetof(format::RingRowPage, block) == 0);
  for (format::RingRowPage& page : *reinterpret_cast<format::RingRowPages*>(into)) {
    uint64_t after = 0;
    if (!ReadExactly(descriptor, reinterpret_cast<std::byte*>(&after), sizeof after, offset)) return false;
    if (page.block.load(std::memory_order_relaxed) != after) page.block.store(0, std::memory_order_relaxed);
    offset += sizeof(page);
  }
  return true;
}

}  // namespace

Result<OpenedRing> OpenedRing::Open(const std::string& path, const format::RecordingId& recording,
                                    const std::string& root) {
  return Check(OpenRegularBelow(root, path), path, recording);
}

Result<OpenedRing> OpenedRing::OpenOf(uid_t owner, const std::string& path, const format::RecordingId& recording) {
  return Check(OpenRegularOf(owner, path), path, recording);
}

// As far as one can without the rest.
Result<OpenedRing> OpenedRing::Check(Descriptor file, const std::string& path, const format::RecordingId& recording) {
  if (!file.is_open()) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  alignas(RingHeader) std::array<std::byte, format::kRingHeaderBytes> page;
  if (!ReadExactly(file.number(), page.data(), page.size(), 0)) return Error{path + ": not a ring"};
  const auto* header = reinterpret_cast<const RingHeader*>(page.data());
  if (header->magic != format::kRingMagic) return Error{path + ": not a ring"};
  if (std::memcmp(header->recording_id, recording.data(), recording.size()) != 0) {
    return Error{path + ": belongs to another recording"};
  }
  return OpenedRing(path, std::move(file),
                    {static_cast<format::RingState>(header->state.load()), header->heartbeat_ns.load()});
}

Result<RingCopy> RingCopy::Of(const OpenedRing& ring) {
  const std::string& path = ring.path();
  const int file = ring.file().number();
  struct stat status {};
  if (fstat(file, &status) != 0) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const auto size = static_cast<size_t>(status.st_size);
  if (size > kMaxRingBytes) return Error{path + ": too large for a ring"};

  RingCopy copy(size);
  auto* bytes = reinterpret_cast<std::byte*>(copy.words_.data());
  if (size < format::kRingHeaderBytes || !ReadExactly(file, bytes, format::kRingHeaderBytes, 0)) {
    return Error{path + ": truncated while it was being read"};
  }
  auto view = format::RingView::Of({bytes, size});
  if (!view.ok()) return Error{fmt::format("{}: {}", path, view.error().message)};
  const auto* header = reinterpret_cast<const RingHeader*>(bytes);
  const size_t stride = size_t{header->lane_header_bytes} + header->lane_bytes;
  for (uint32_t lane = 0; lane < header->lane_count; ++lane) {
    const size_t at = header->header_bytes + lane * stride;
    copy.heads_.push_back(HeadAndTail(file, at).first);
    if (!ReadExactly(file, bytes + at, stride, at)) return Error{path + ": truncated while it was being read"};
  }
  for (uint32_t lane = 0; lane < header->lane_count; ++lane) {
    copy.tails_.push_back(HeadAndTail(file, header->header_bytes + lane * stride).second);
  }
  // What the drain clears meanwhile is in the file: beside a running recorder this copy has less.
  if (header->census_at != 0 &&
      !ReadExactly(file, bytes + header->census_at, sizeof(format::RingCensusPages), header->census_at)) {
    return Error{path + ": truncated while it was being read"};
  }
  if (header->modules_at != 0 && !ReadModules(file, header->modules_at, bytes + header->modules_at)) {
    return Error{path + ": truncated while it was being read"};
  }
  if (header->rows_at != 0 && !ReadRows(file, header->rows_at, bytes + header->rows_at)) {
    return Error{path + ": truncated while it was being read"};
  }
  copy.view_ = std::make_unique<format::RingView>(std::move(*view));
  return copy;
}

format::StreamCounters RingCopy::counters(format::Stream stream) const {
  const format::RingCounters& from = view_->header().CountersOf(stream);
  format::StreamCounters counters;
  counters.candidates = from.candidates;
  counters.candidate_bytes = from.candidate_bytes;
  counters.points = from.points;
  counters.thinned = from.thinned;
  counters.committed = from.committed;
  counters.written = from.written;
  counters.second_stage = from.second_stage;
  if (stream == format::Stream::kAllocations) {
    const format::RingStacks& stacks = view_->header().stacks;
    counters.stacks_walked = stacks.walked;
    counters.stacks_from_jvmti = stacks.asked;
    counters.stack_mismatches = stacks.differed;
  }
  if (stream == format::Stream::kNative) counters.unseen_allocators = view_->header().unseen_allocators;
  for (int reason = 0; reason < format::kRingLosses; ++reason) {
    counters.lost[reason] = from.lost[reason];
    counters.lost_weight[reason] = from.lost_weight[reason];
  }
  if (stream == format::Stream::kAllocations) {
    counters.SetStackChunks(view_->header().stack_chunks.objects, view_->header().stack_chunks.bytes);
  }
  return counters;
}

}  // namespace heaprec::tools
