#include "recorder/buffer/ring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

#include "base/locked_file.h"
#include "base/writes.h"

namespace heaprec::buffer {
namespace {

using format::Stream;

size_t ModulesAt(const RingOptions& options) {
  return format::kRingHeaderBytes + size_t{options.lane_count} * (format::kLaneHeaderBytes + options.lane_bytes);
}

size_t CensusAt(const RingOptions& options) {
  return ModulesAt(options) + (options.has_modules ? sizeof(format::RingModules) : 0);
}

size_t RowsAt(const RingOptions& options) {
  return CensusAt(options) + (options.has_census ? sizeof(format::RingCensusPages) : 0);
}

bool HasRows(const RingOptions& options) { return options.caps[format::Stream::kAllocations].interval_ns > 0; }

size_t RingBytes(const RingOptions& options) {
  return RowsAt(options) + (HasRows(options) ? sizeof(format::RingRowPages) : 0);
}

// Maps a new file, shared and fully allocated: stores to a sparse file on a full tmpfs would raise SIGBUS.
Result<std::byte*> MapShared(const std::string& path, size_t size, GuardedFd* lock) {
  // Locked as long as the process lives, which shows that the ring has an owner (stale_rings.h). The mapping holds the
  // lock, too, in case the program closes all descriptors.
  const int descriptor = CreateLocked(path.c_str());
  if (descriptor < 0) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const int full = [&] {
    const WriteSignals blocked;
    return posix_fallocate(descriptor, 0, static_cast<off_t>(size));
  }();
  void* const memory = full == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const Error error{full != 0 ? fmt::format("{}: {}", path, std::strerror(full))
                                : fmt::format("{}: mmap: {}", path, std::strerror(errno))};
    RemoveLocked(AT_FDCWD, path.c_str(), descriptor);
    close(descriptor);
    return error;
  }
  *lock = GuardedFd(descriptor);
  return static_cast<std::byte*>(memory);
}

std::byte* MapPrivate(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::Create(const RingOptions& options) {
  std::unique_ptr<Ring> ring(new Ring);
  ring->size_ = RingBytes(options);
  ring->lane_count_ = options.lane_count;
  ring->lane_bytes_ = options.lane_bytes;
  if (!options.path.empty()) {
    if (const auto shared = MapShared(options.path, ring->size_, &ring->lock_)) {
      ring->base_ = *shared;
      ring->path_ = options.path;
    } else {
      ring->why_ = shared.error().message;
    }
  }
  if (ring->base_ == nullptr) ring->base_ = MapPrivate(ring->size_);
  if (ring->base_ == nullptr) return Error{fmt::format("no memory for the ring: {}", std::strerror(errno))};
  // A forked child must not publish into its parent's recording.
  madvise(ring->base_, ring->size_, MADV_DONTFORK);

  // The mapping is zero-filled, which is the initial value of every atomic in it.
  auto* header = new (ring->base_) format::RingHeader;
  ring->header_ = header;
  header->version = format::kRingVersion;
  header->header_bytes = format::kRingHeaderBytes;
  std::memcpy(header->recording_id, options.recording_id.data(), options.recording_id.size());
  header->pid = static_cast<uint32_t>(getpid());
  header->lane_count = options.lane_count;
  header->lane_header_bytes = format::kLaneHeaderBytes;
  header->lane_bytes = options.lane_bytes;
  header->start_epoch_ns = options.start_epoch_ns;
  header->start_monotonic_ns = options.start_monotonic_ns;
  header->interval_ns = options.caps[Stream::kAllocations].interval_ns;
  header->interval_cap = options.caps[Stream::kAllocations].interval_cap;
  for (const Stream stream : format::kAllStreams) {
    if (auto* const other = const_cast<format::RingStream*>(header->OtherStream(stream))) {
      other->interval_ns = options.caps[stream].interval_ns;
      other->interval_cap = options.caps[stream].interval_cap;
    }
  }
  if (options.has_modules) {
    header->modules_at = ModulesAt(options);
    ring->modules_ = new (ring->base_ + ModulesAt(options)) format::RingModules;
  }
  if (options.has_census) {
    header->census_at = CensusAt(options);
    ring->census_ = reinterpret_cast<format::RingCensusPages*>(ring->base_ + CensusAt(options));
    ring->census_->pages[1].number.store(1, std::memory_order_relaxed);
    ring->census_->active.store(1, std::memory_order_relaxed);
  }
  if (HasRows(options)) {
    header->rows_at = RowsAt(options);
    ring->rows_ = reinterpret_cast<format::RingRowPages*>(ring->base_ + RowsAt(options));
  }
  for (uint32_t i = 0; i < options.lane_count; ++i) new (ring->LaneStart(i)) format::LaneHeader{};
  header->state.store(static_cast<uint32_t>(format::RingState::kRunning), std::memory_order_relaxed);
  // Stored last: a salvager that finds the magic number finds everything else.
  __atomic_store_n(&header->magic, format::kRingMagic, __ATOMIC_RELEASE);
  return ring;
}

void Ring::SetRecordingPath(const std::string& path) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  char* const stored = header_->recording_path;
  // If the process is killed in between, the path is empty.
  std::atomic_ref first(stored[0]);
  first.store(0, std::memory_order_release);
  if (error || absolute.empty() || absolute.size() >= sizeof header_->recording_path) return;
  std::memcpy(stored + 1, absolute.c_str() + 1, absolute.size());
  first.store(absolute[0], std::memory_order_release);
}

void Ring::Close() {
  header_->state.store(static_cast<uint32_t>(format::RingState::kClosed), std::memory_order_release);
  if (!path_.empty()) RemoveFile();
  // A thread may still be inside a lane, so the memory stays mapped; only its pages are released.
  constexpr size_t kHeader = format::kRingHeaderBytes;  // it contains the state, which is now closed
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  // If this fails, the pages stay until the process ends; nothing else depends on it.
  [[maybe_unused]] void* const same = mmap(base_ + kHeader, size_ - kHeader, PROT_READ | PROT_WRITE, kFlags, -1, 0);
}

Ring::~Ring() {
  if (base_ == nullptr) return;
  munmap(base_, size_);
  if (!path_.empty()) RemoveFile();  // the ring was never closed: nothing was recorded into it
}

void Ring::RemoveFile() {
  if (!is_left_ && lock_.Reopen(path_, O_RDWR)) RemoveLocked(AT_FDCWD, path_.c_str(), lock_.number());
  path_.clear();
  lock_.Close();
}

}  // namespace heaprec::buffer
