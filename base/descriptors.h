// A descriptor of the agent in a process whose program may close it (daemons close all) and reuse its number. It has a
// high number, which programs rarely use, and checks whether it still refers to the agent's file.
//
// Context:  setup or drain.
// Failure:  a descriptor that the program took is -1 from then on, until Reopen; the agent never closes it.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heaprec {

// Restores errno when it is destroyed. Do not use it around cancellable calls in libheaprec-native.so: its destructor
// would need the unwinder there.
class KeptErrno {
 public:
  KeptErrno() : error_(errno) {}
  ~KeptErrno() { errno = error_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int error_;
};

// Fills `into` from `offset` on, or writes all of `from`. On false errno has the reason (ENOSPC if nothing more is
// written); it is not set if the file is too short. No heap.
inline bool ReadAt(int descriptor, std::span<std::byte> into, uint64_t offset) {
  while (!into.empty()) {
    const ssize_t got = pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return true;
}
inline bool WriteAt(int descriptor, std::span<const std::byte> from, uint64_t offset) {
  while (!from.empty()) {
    const ssize_t wrote = pwrite(descriptor, from.data(), from.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = ENOSPC;
    if (wrote <= 0) return false;
    from = from.subspan(static_cast<size_t>(wrote));
    offset += static_cast<uint64_t>(wrote);
  }
  return true;
}

// Which file a descriptor refers to. Not known: there is no descriptor, or, with errno, the kernel does not say.
struct FileIdentity {
  bool is_known = false;
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};
inline FileIdentity IdentityOf(int descriptor) {
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return {};
  return {true, status.st_dev, status.st_ino};
}

class GuardedFd {
 public:
  GuardedFd() = default;
  // Takes ownership of the descriptor and moves it to a high number; -1: no descriptor.
  explicit GuardedFd(int descriptor);
  GuardedFd(GuardedFd&& other) noexcept;
  GuardedFd& operator=(GuardedFd&& other) noexcept;
  ~GuardedFd() { Close(); }

  int number() const { return number_; }
  // Whether the number still refers to the original file.
  bool IsOurs() const;
  // Unless IsOurs(), opens `path` again. Returns false if `path` is another file.
  bool Reopen(const std::string& path, int flags);
  // Refers to `other`'s file from now on, under the same number if possible: a reader of /proc/PID/fd finds one of the
  // two files.
  void ReplaceBy(GuardedFd&& other);
  // Opens the same file under another number. Returns -1, with errno, if the program has taken the descriptor or no
  // number is free.
  GuardedFd Duplicate() const;
  void Close();

 private:
  int number_ = -1;
  FileIdentity file_;
};

// Gives heaprec's descriptors numbers that programs do not expect to find in use.
//
// Context:  setup.
constexpr int kHighDescriptor = 900;

// Duplicates the descriptor to a number of 900 or above, or above 2 if the limit is lower. Returns -1 if no number is
// free.
inline int DuplicateHigh(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor);
  return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

// Moves the descriptor to a number of 900 or above. If the limit is lower it keeps its number, or moves above 2 if that
// is the number of a standard stream that the program has closed. Returns -1 if no number is free.
inline int MovedUp(int descriptor) {
  if (descriptor < 0 || descriptor >= kHighDescriptor) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (moved < 0 && descriptor > STDERR_FILENO) return descriptor;
  if (moved < 0) moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  syscall(SYS_close, descriptor);
  return moved;
}

// Gives a thread its own table of descriptors. A file that it opens never gets a number that the program has just
// closed in order to reuse it (a shell closes 2 before dup2(1, 2)). The program neither lists nor closes such a file.
// The table has none of the program's files, so this thread does not keep the program's pipes open.
//
// Context:  a thread of the agent; the threads that it creates share its table.
// Failure:  before Linux 5.9, or if the call is forbidden, the thread continues to use the process' table.
void LeaveSharedDescriptors();

// Lists a folder by system calls only: a program may replace readdir, and heaprec must not call that.
//
// Context:  any thread. No heap; a buffer of 4 KiB on the stack.
//
// Calls visit(const char* name) for each entry of the open `folder`, including "." and "..", until it returns false.
// Returns false if the rest of the folder could not be read.
template <typename Visit>
bool ForEachEntry(int folder, Visit visit) {
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (bytes <= 0) return bytes == 0;
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (!visit(entry->d_name)) return true;
    }
  }
}

}  // namespace heaprec
