#include "recorder/buffer/stale_rings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/descriptors.h"
#include "base/locked_file.h"
#include "format/bytes/layout.h"
#include "format/codec/file_header.h"
#include "format/ring/ring_layout.h"

namespace heaprec::buffer {
namespace {

using format::RingHeader;

constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kMaxFileHeaderBytes = 1 << 20;
constexpr uint64_t kRetryableFactor = 4;  // a multiple of the limit

// Why a ring cannot be copied.
struct Obstacle {
  std::string why;
  bool is_retryable = false;  // caused by limits (ulimit, memory) that another process may not have
};

Obstacle Failure(const std::string& path) {
  const int error = errno;
  const bool is_retryable = error == EFBIG || error == EMFILE || error == ENOMEM;
  return {fmt::format("{}: {}", path, std::strerror(error)), is_retryable};
}

// Returns the id of the recording in `file`; nullopt: it is not a recording.
std::optional<format::RecordingId> IdOfRecording(int file) {
  std::vector<std::byte> bytes(format::kFilePrefixBytes);
  if (!ReadAt(file, bytes, 0)) return std::nullopt;
  const auto size = format::FileHeaderBytes(bytes);
  if (!size.ok() || *size > kMaxFileHeaderBytes) return std::nullopt;
  bytes.resize(*size);
  if (!ReadAt(file, bytes, 0)) return std::nullopt;
  const auto header = format::DecodeFileHeader(bytes);
  return header.ok() ? std::optional(header->recording_id) : std::nullopt;
}

// The folder that contains the recording of a ring. Any other folder of that name may belong to another container, or
// be removed later, and the ring would be lost there.
class RecordingFolder {
 public:
  static std::variant<RecordingFolder, Obstacle> Open(const RingHeader& ring) {
    const std::string path(ring.recording_path, strnlen(ring.recording_path, sizeof ring.recording_path));
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return Obstacle{"its recording is not known"};
    const std::string folder_path = path.substr(0, slash + 1);
    GuardedFd folder(open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() < 0) return Failure(folder_path);
    constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const GuardedFd recording(openat(folder.number(), path.c_str() + slash + 1, kFlags));
    if (recording.number() < 0) return Failure(path);
    struct stat status {};
    if (fstat(recording.number(), &status) != 0) return Failure(path);
    const auto id = S_ISREG(status.st_mode) ? IdOfRecording(recording.number()) : std::nullopt;
    if (!id || std::memcmp(id->data(), ring.recording_id, id->size()) != 0) {
      return Obstacle{path + ": not the recording of this ring"};
    }
    // The mode of another user's recording does not say who may read the ring.
    const mode_t mode = status.st_uid == geteuid() ? status.st_mode & 0666 : 0600;
    return RecordingFolder(folder_path, std::move(folder), mode);
  }

  // Copies all of `ring` to the file `name`. Returns nullopt only if the copy survives a power cut.
  std::optional<Obstacle> Add(int ring, const std::string& name) const {
    const std::string unfinished = name + format::kUnfinishedSuffix;
    // left by a process that was killed: only this process holds the ring's lock
    unlinkat(folder_.number(), unfinished.c_str(), 0);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const GuardedFd copy(openat(folder_.number(), unfinished.c_str(), kFlags, 0600));
    if (copy.number() >= 0 && CopyBytes(ring, copy.number()) && fchmod(copy.number(), mode_) == 0 &&
        fsync(copy.number()) == 0 &&
        renameat(folder_.number(), unfinished.c_str(), folder_.number(), name.c_str()) == 0 &&
        fsync(folder_.number()) == 0) {
      return std::nullopt;
    }
    Obstacle obstacle = Failure(path_ + name);
    if (copy.number() >= 0) unlinkat(folder_.number(), unfinished.c_str(), 0);
    return obstacle;
  }

 private:
  RecordingFolder(std::string path, GuardedFd folder, mode_t mode)
      : path_(std::move(path)), folder_(std::move(folder)), mode_(mode) {}

  // Zero pages become holes: most of a ring has never been written to.
  static bool CopyBytes(int from, int to) {
    struct stat status {};
    if (fstat(from, &status) != 0 || ftruncate(to, status.st_size) != 0) return false;
    std::vector<std::byte> piece(kPieceBytes);
    const auto size = static_cast<uint64_t>(status.st_size);
    for (uint64_t at = 0; at < size; at += kPieceBytes) {
      const std::span<std::byte> bytes(piece.data(), std::min<uint64_t>(kPieceBytes, size - at));
      if (!ReadAt(from, bytes, at)) return false;
      const bool is_zero = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
      if (!is_zero && !WriteAt(to, bytes, at)) return false;
    }
    return true;
  }

  std::string path_;  // ends in a slash
  GuardedFd folder_;
  mode_t mode_;  // mode of the copies
};

struct StuckRing {
  std::string name;
  Obstacle obstacle;
  timespec modified;
  uint64_t bytes;
};

bool IsYounger(const StuckRing& a, const StuckRing& b) {
  return std::pair(a.modified.tv_sec, a.modified.tv_nsec) > std::pair(b.modified.tv_sec, b.modified.tv_nsec);
}

// Sets all fields to zero if the file is too short for a header.
bool ReadHeader(int ring, uint64_t bytes, RingHeader* header) {
  std::array<std::byte, sizeof(RingHeader)> page{};
  if (bytes >= page.size() && !ReadAt(ring, page, 0)) return false;
  std::memcpy(static_cast<void*>(header), page.data(), page.size());
  return true;
}

// Whether nothing was recorded into the ring: its process died before the ring was complete, or before its recording
// had a file. The path is also missing if it is too long for the header; the lanes then show whether there are records.
bool IsUnused(int ring, const RingHeader& header) {
  if (header.magic == 0) return true;
  if (header.version != format::kRingVersion || header.recording_path[0] != 0) return false;
  for (uint64_t lane = 0; lane < header.lane_count; ++lane) {
    const uint64_t at = format::kRingHeaderBytes + lane * (format::kLaneHeaderBytes + uint64_t{header.lane_bytes});
    uint64_t head = 0;  // the first field of a LaneHeader
    if (!ReadAt(ring, std::as_writable_bytes(std::span(&head, 1)), at) || head != 0) return false;
  }
  return true;
}

std::optional<Obstacle> CopyBesideRecording(int ring, const RingHeader& header, const std::string& name) {
  if (header.magic != format::kRingMagic) return Obstacle{"not a ring"};
  const auto opened = RecordingFolder::Open(header);
  const auto* const folder = std::get_if<RecordingFolder>(&opened);
  return folder != nullptr ? folder->Add(ring, name) : std::get<Obstacle>(opened);
}

bool IsRingName(std::string_view name) { return name.starts_with("heaprec-") && name.ends_with(".ring"); }

std::vector<std::string> RingsIn(int folder) {
  std::vector<std::string> names;
  ForEachEntry(folder, [&](const char* name) {
    if (IsRingName(name)) names.emplace_back(name);
    return true;
  });
  return names;
}

}  // namespace

MovedRings MoveAbandonedRings(const std::string& directory, uint64_t max_bytes_kept) {
  MovedRings moved;
  const GuardedFd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<StuckRing> stuck;
  for (const std::string& name : RingsIn(folder.number())) {
    const GuardedFd ring(OpenAbandoned(folder.number(), name.c_str()));
    struct stat status {};
    if (ring.number() < 0 || fstat(ring.number(), &status) != 0) continue;
    RingHeader header{};
    if (!ReadHeader(ring.number(), static_cast<uint64_t>(status.st_size), &header)) continue;
    const bool is_unused = IsUnused(ring.number(), header);
    const auto obstacle = is_unused ? std::nullopt : CopyBesideRecording(ring.number(), header, name);
    if (obstacle) {
      stuck.push_back({name, *obstacle, status.st_mtim, static_cast<uint64_t>(status.st_size)});
    } else if (RemoveLocked(folder.number(), name.c_str(), ring.number())) {
      ++(is_unused ? moved.removed : moved.copied);
    }
  }
  std::ranges::sort(stuck, IsYounger);
  // bytes that stay; those that another process may be able to copy are counted separately
  std::array<uint64_t, 2> kept{};
  for (const StuckRing& ring : stuck) {
    const uint64_t most = ring.obstacle.is_retryable ? kRetryableFactor * max_bytes_kept : max_bytes_kept;
    uint64_t& sum = kept[ring.obstacle.is_retryable ? 1 : 0];
    sum += ring.bytes;
    if (sum <= most || !RemoveAbandoned(folder.number(), ring.name.c_str())) continue;
    moved.losses.push_back(
        fmt::format("{}/{}: removed the ring of a killed process; samples that only the ring had are lost. The agent "
                    "could not copy it "
                    "beside the recording ({}) and keeps at most {} MiB of such rings",
                    directory, ring.name, ring.obstacle.why, most >> 20));
  }
  return moved;
}

}  // namespace heaprec::buffer
