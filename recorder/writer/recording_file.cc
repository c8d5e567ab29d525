#include "recorder/writer/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heaprec::writer {
namespace {

constexpr int kMostNames = 10000;

std::string LocalTime(uint64_t epoch_ns) {
  const auto seconds = static_cast<time_t>(epoch_ns / 1'000'000'000);
  tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}_{:02}_{:02}_{:02}_{:02}_{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// "dir/rec.bin", 2 -> "dir/rec-2.bin"
std::string Numbered(const std::string& path, int number) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name) dot = path.size();
  return fmt::format("{}-{}{}", path.substr(0, dot), number, path.substr(dot));
}

}  // namespace

std::string ExpandPattern(const std::string& pattern, uint32_t pid, uint64_t epoch_ns, int number) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'p') {
      out += std::to_string(pid);
    } else if (next == 't') {
      out += LocalTime(epoch_ns);
    } else if (next == 'n') {
      out += std::to_string(number);
    } else if (next == '%') {
      out += '%';
    } else {
      out += pattern[i];
      continue;
    }
    ++i;
  }
  return out;
}

format::Result<RecordingFile> RecordingFile::Create(const std::string& pattern, uint32_t pid, uint64_t epoch_ns) {
  const bool counts = ExpandPattern(pattern, pid, epoch_ns, 0) != ExpandPattern(pattern, pid, epoch_ns, 1);
  for (int number = 0; number < kMostNames; ++number) {
    std::string path = ExpandPattern(pattern, pid, epoch_ns, number);
    if (!counts && number > 0) path = Numbered(path, number);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (descriptor >= 0) return RecordingFile(std::move(path), descriptor);
    if (errno != EEXIST) return format::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  return format::Error{fmt::format("{}: {} files of this name exist already", pattern, kMostNames)};
}

RecordingFile::RecordingFile(RecordingFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

RecordingFile::~RecordingFile() { Close(); }

void RecordingFile::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

format::Result<std::monostate> RecordingFile::Append(std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote =
        pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int reason = wrote == 0 ? ENOSPC : errno;
      // A torn block would end the reading of everything behind it.
      if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) {
        return format::Error{fmt::format("{}: {}; and {}", path_, std::strerror(reason), std::strerror(errno))};
      }
      return format::Error{fmt::format("{}: {}", path_, std::strerror(reason))};
    }
    done += static_cast<size_t>(wrote);
  }
  size_ += done;
  return std::monostate{};
}

format::Result<std::monostate> RecordingFile::Sync() {
  if (fdatasync(descriptor_) != 0) return format::Error{fmt::format("{}: {}", path_, std::strerror(errno))};
  return std::monostate{};
}

}  // namespace heaprec::writer
