#include "tools/input/file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "base/descriptors.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr size_t kSpoolBytes = 1 << 16;

std::string Reason(int error) { return std::strerror(error); }

bool CopyAll(int from, int to) {
  std::array<std::byte, kSpoolBytes> buffer;
  for (uint64_t offset = 0;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!WriteAt(to, std::span(buffer).first(static_cast<size_t>(got)), offset)) return false;
    offset += static_cast<uint64_t>(got);
  }
}

Result<int> Spool(int from, const std::string& name) {
  std::string path = TemporaryPattern();
  const int spool = mkostemp(path.data(), O_CLOEXEC);
  if (spool < 0) return Error{fmt::format("{}: {}", path, Reason(errno))};
  unlink(path.c_str());
  if (CopyAll(from, spool)) return spool;
  const int error = errno;
  close(spool);
  return Error{fmt::format("{}: {}", name, Reason(error))};
}

// The name that a shell gives to the pipe of <(command).
bool IsOwnPipe(const std::string& path) {
  struct stat status {};
  return (path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/")) && stat(path.c_str(), &status) == 0 &&
         S_ISFIFO(status.st_mode);
}

// Reads it once; a command that needs two passes opens it twice.
Result<int> OpenSpooled(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Result<int>> spools;
  const std::lock_guard lock(mutex);
  const std::string name = path == "-" ? "standard input" : path;
  auto spool = spools.find(path);
  if (spool == spools.end()) {
    const int from = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) return Error{fmt::format("{}: {}", name, Reason(errno))};
    spool = spools.emplace(path, Spool(from, name)).first;
    if (from != STDIN_FILENO) close(from);
  }
  if (!spool->second.ok()) return spool->second;
  const int copy = fcntl(*spool->second, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Error{fmt::format("{}: {}", name, Reason(errno))};
  return copy;
}

Result<int> OpenFile(const std::string& path) {
  // Does not wait for the writer of a named pipe.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Error{fmt::format("{}: {}", path, Reason(errno))};
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  if (known && S_ISREG(status.st_mode)) return descriptor;
  close(descriptor);
  return Error{fmt::format("{}: not a regular file ('-' reads a pipe)", path)};
}

std::map<std::string, std::vector<std::string>>& All() {
  static std::map<std::string, std::vector<std::string>> all;
  return all;
}

}  // namespace

Result<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  const bool is_spool = path == "-" || IsOwnPipe(path);
  Result<int> descriptor = is_spool ? OpenSpooled(path) : OpenFile(path);
  if (!descriptor.ok()) return descriptor.error();
  return std::unique_ptr<FileSource>(new FileSource(*descriptor, path));
}

FileSource::~FileSource() { close(descriptor_); }

Result<size_t> FileSource::ReadAt(uint64_t offset, std::byte* into, size_t size) {
  size_t got = 0;
  while (got < size) {
    const ssize_t now = pread(descriptor_, into + got, size - got, static_cast<off_t>(offset + got));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return Error{fmt::format("offset {}: {}", offset + got, Reason(errno))};
    if (now == 0) break;
    got += static_cast<size_t>(now);
  }
  return got;
}

uint64_t FileSource::size() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool FileSource::IsReplaced() const {
  struct stat named {};
  return !is_spool_ && !IsOwnPipe(name_) && stat(name_.c_str(), &named) == 0 && !IsSameFileAs(name_);
}

bool FileSource::IsSameFileAs(const std::string& other) const {
  struct stat mine {
  }, theirs{};
  return fstat(descriptor_, &mine) == 0 && stat(other.c_str(), &theirs) == 0 && mine.st_dev == theirs.st_dev &&
         mine.st_ino == theirs.st_ino;
}

std::optional<uid_t> FileSource::owner() const {
  struct stat mine {};
  return !is_spool_ && !IsOwnPipe(name_) && fstat(descriptor_, &mine) == 0 ? std::optional(mine.st_uid) : std::nullopt;
}

void AddJoinedFile(const std::string& path, std::vector<std::string> files) {
  All().insert_or_assign(path, std::move(files));
}

std::vector<std::string> FilesOf(const std::string& path) {
  const auto found = All().find(path);
  return found != All().end() ? found->second : std::vector{path};
}

std::string ShownName(const std::string& path) {
  const std::vector<std::string> files = FilesOf(path);
  return files.size() == 1 ? path : files.front() + " and " + CountOf(files.size() - 1, "later part");
}

}  // namespace heaprec::tools
