#include "tools/input/confined_open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

namespace heaprec::tools {
namespace {

constexpr int kMaxAttempts = 100;

Descriptor Fail(int error) {
  errno = error;
  return {};
}

// ENOSYS or EPERM: the kernel, or a filter, has no openat2.
Descriptor OpenInRoot(const Descriptor& root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const long opened = syscall(SYS_openat2, root.number(), path.c_str(), &how, sizeof how);
    // EAGAIN: a file was moved while the path was resolved.
    if (opened >= 0 || errno != EAGAIN) return Descriptor(static_cast<int>(opened));
  }
  return Fail(EAGAIN);
}

// For descriptors opened with O_PATH, which opens a link itself.
bool IsLink(const Descriptor& file) {
  struct stat status {};
  return fstat(file.number(), &status) == 0 && S_ISLNK(status.st_mode);
}

// For O_DIRECTORY, which returns ENOTDIR for a link.
bool IsLink(const Descriptor& folder, const std::string& name) {
  struct stat status {};
  return fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

// Opens one component after the other, without links and without "..", each in the previous one.
Descriptor WalkWithoutLinks(Descriptor folder, const std::string& path, int flags) {
  const std::filesystem::path relative = std::filesystem::path(path).relative_path();
  for (auto part = relative.begin(); part != relative.end();) {
    const std::string name = *part;
    const bool is_last = ++part == relative.end();
    if (name == "..") return Fail(ELOOP);
    Descriptor next(openat(folder.number(), name.c_str(), (is_last ? flags : O_PATH) | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      const int error = errno;
      return Fail(error == ENOTDIR && IsLink(folder, name) ? ELOOP : error);
    }
    if (IsLink(next)) return Fail(ELOOP);
    folder = std::move(next);
  }
  return folder;
}

// Reopens for reading exactly the file that was opened with O_PATH. If its owner has a lease on it, a blocking open
// would wait for 45 s.
Descriptor Reopen(const Descriptor& place) {
  return Descriptor(open(fmt::format("/proc/self/fd/{}", place.number()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Opening a device may have effects, so only regular files are opened.
Descriptor ReopenRegular(const Descriptor& place, std::optional<uid_t> owner = std::nullopt) {
  struct stat status {};
  if (!place.is_open() || fstat(place.number(), &status) != 0) return Fail(errno);
  if (!S_ISREG(status.st_mode)) return Fail(EINVAL);
  return !owner || status.st_uid == *owner ? Reopen(place) : Fail(EPERM);
}

}  // namespace

Descriptor OpenBelow(const std::string& root, const std::string& path, int flags) {
  if (root.empty()) return Descriptor(open(path.c_str(), flags | O_CLOEXEC));
  Descriptor top(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open()) return top;
  Descriptor file = OpenInRoot(top, path, flags);
  if (file.is_open() || (errno != ENOSYS && errno != EPERM)) return file;
  return WalkWithoutLinks(std::move(top), path, flags);
}

Descriptor OpenRegularBelow(const std::string& root, const std::string& path) {
  return ReopenRegular(OpenBelow(root, path, O_PATH));
}

Descriptor OpenRegularIn(const Descriptor& folder, const std::string& name) {
  return ReopenRegular(Descriptor(openat(folder.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)));
}

Descriptor OpenRegularOf(uid_t owner, const std::string& path) {
  return ReopenRegular(Descriptor(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), owner);
}

std::string ReadSmallFile(const std::string& path, size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text;
  while (text.size() < most) {
    char piece[4096];
    const ssize_t got = read(file.number(), piece, std::min(sizeof piece, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

Result<ElfFile> OpenElf(const std::string& path) {
  const auto file = std::make_shared<Descriptor>(OpenRegularBelow("", path));
  if (!file->is_open()) return Error{path + ": " + std::strerror(errno)};
  return ElfFile::Open(path, [file](uint64_t offset, void* out, size_t size) {
    return pread(file->number(), out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  });
}

}  // namespace heaprec::tools
