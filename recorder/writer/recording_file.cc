#include "recorder/writer/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/output_path.h"
#include "base/writes.h"

namespace heaprec::writer {
namespace {

GuardedFd OpenNew(const std::string& path) {
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? GuardedFd() : GuardedFd(descriptor);
}

Error Failure(const std::string& path) { return Error{fmt::format("{}: {}", path, std::strerror(errno))}; }

// Maximum file size for this process.
uint64_t FileSizeLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

// Whether fallocate failed for lack of space; other errors come from file systems that cannot reserve.
bool IsFull(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

int Allocate(int descriptor, uint64_t from, uint64_t to) {
  int result = 0;
  do {
    result = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

Result<RecordingFile> RecordingFile::Create(const std::string& pattern, uint32_t pid, uint64_t epoch_ns,
                                            bool continues) {
  const OutputPath output(pattern, pid, epoch_ns);
  for (int number = 0; number < OutputPath::kMaxNames; ++number) {
    std::string path = output.Name(number);
    GuardedFd descriptor = OpenNew(path);
    if (descriptor.number() >= 0) return RecordingFile(std::move(path), std::move(descriptor));
    if (errno != EEXIST) return Failure(path);
    if (output.is_numbered() || continues || number > 0) continue;
    // If the path is a device, a folder or a dangling link, a file with another name is not what the user requested.
    if (const Status status = CheckOutput(path); !status) return status.error();
  }
  return Error{fmt::format("{}: {} files of this name exist already", pattern, OutputPath::kMaxNames)};
}

RecordingFile::RecordingFile(RecordingFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::move(other.descriptor_)),
      size_(other.size_),
      reserved_to_(other.reserved_to_),
      provisional_to_(other.provisional_to_),
      failure_(other.failure_),
      is_torn_(other.is_torn_) {}

void RecordingFile::Close() {
  if (reserved_to_ > size_ && descriptor_.IsOurs()) (void)Truncate(std::max(size_, provisional_to_));
  descriptor_.Close();
}

Error RecordingFile::Fail(int error) {
  failure_ = error;
  return Error{fmt::format("{}: {}", path_, std::strerror(error))};
}

// Reserves twice the amount, if there is space, to avoid a system call per block.
Status RecordingFile::Reserve(size_t bytes) {
  const uint64_t limit = FileSizeLimit();
  // More after a failure: otherwise small blocks, which fit where larger ones do not, would end the outage again and
  // again.
  const uint64_t spare = std::min(kReserveBytes, limit / 8) * (IsFull(failure_) ? 4 : 1);
  const uint64_t end = size_ + bytes + spare;
  if (end > limit) return Fail(EFBIG);
  if (end <= reserved_to_ || !descriptor_.Reopen(path_, O_RDWR)) return {};
  for (const uint64_t wanted : {std::min(end + kReserveBytes, limit), end}) {
    const int error = Allocate(descriptor_.number(), size_, wanted);
    if (error == 0) reserved_to_ = wanted;
    if (!IsFull(error)) return {};
    if (wanted == end) return Fail(error);
  }
  return {};
}

uint64_t RecordingFile::reserved_room() const {
  const uint64_t end = std::min(reserved_to_, FileSizeLimit());
  return end > size_ ? end - size_ : 0;
}

Status RecordingFile::Append(std::span<const std::byte> bytes) {
  failure_ = EBADF;
  if (!descriptor_.Reopen(path_, O_RDWR)) return Error{path_ + ": its descriptor was closed"};
  // No block may follow an incomplete one.
  if (is_torn_ && !TakeBack()) return Fail(errno);
  const uint64_t end = size_ + bytes.size();
  const bool is_shorter = end < provisional_to_;
  // After a kill, readers treat zeros as an unfinished tail, but the rest of a provisional block as damage.
  std::vector<std::byte> with_zeros;
  if (is_shorter) {
    with_zeros.assign(bytes.begin(), bytes.end());
    with_zeros.resize(provisional_to_ - size_);
    bytes = with_zeros;
  }
  const WriteSignals blocked;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote =
        pwrite(descriptor_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const Error error = Fail(wrote == 0 ? ENOSPC : errno);
      is_torn_ = done > 0;
      if (is_torn_) (void)TakeBack();
      return error;
    }
    done += static_cast<size_t>(wrote);
  }
  size_ = end;
  failure_ = 0;
  provisional_to_ = 0;
  if (is_shorter) (void)TakeBack();
  return {};
}

void RecordingFile::WriteProvisional(std::span<const std::byte> bytes) {
  if (is_torn_ || bytes.size() > reserved_room() || size_ + bytes.size() < provisional_to_) return;
  if (!descriptor_.Reopen(path_, O_RDWR)) return;
  const WriteSignals blocked;
  const ssize_t wrote = pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
  if (wrote > 0) provisional_to_ = std::max(provisional_to_, size_ + static_cast<uint64_t>(wrote));
}

bool RecordingFile::Truncate(uint64_t to) {
  int result = 0;
  do {
    result = ftruncate(descriptor_.number(), static_cast<off_t>(to));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// Also releases the reservation.
bool RecordingFile::TakeBack() {
  is_torn_ = !Truncate(size_);
  if (!is_torn_) reserved_to_ = size_, provisional_to_ = 0;
  return !is_torn_;
}

Result<size_t> RecordingFile::Read(uint64_t offset, std::span<std::byte> into) const {
  if (!descriptor_.IsOurs()) return Error{path_ + ": its descriptor was closed"};
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        pread(descriptor_.number(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure(path_);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Result<RecordingFile> RecordingFile::Duplicate() const {
  GuardedFd descriptor = descriptor_.Duplicate();
  if (descriptor.number() < 0) return Failure(path_);
  RecordingFile same(path_, std::move(descriptor));
  same.size_ = size_;
  return same;
}

GuardedFd RecordingFile::DuplicateDescriptor() {
  (void)descriptor_.Reopen(path_, O_RDWR);
  return descriptor_.Duplicate();
}

bool RecordingFile::IsInPlace() const {
  struct stat own {
  }, named{};
  if (!descriptor_.IsOurs() || fstat(descriptor_.number(), &own) != 0) return true;  // unknown
  if (own.st_nlink == 0) return false;
  if (stat(path_.c_str(), &named) != 0) return errno != ENOENT;
  if (named.st_dev == own.st_dev && named.st_ino == own.st_ino) return true;
  // Some file systems have inode numbers that change.
  return named.st_size == own.st_size;
}

Status RecordingFile::ReplaceBy(RecordingFile&& other) {
  if (rename(other.path_.c_str(), path_.c_str()) != 0) return Failure(path_);
  descriptor_.ReplaceBy(std::move(other.descriptor_));
  size_ = other.size_;
  reserved_to_ = other.reserved_to_;
  provisional_to_ = 0;
  is_torn_ = false;
  return {};
}

void RecordingFile::Remove() {
  Close();
  unlink(path_.c_str());
}

}  // namespace heaprec::writer
