#include "base/locked_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <iterator>

namespace heaprec {
namespace {

void CloseKeepingErrno(int descriptor) {
  const int error = errno;
  close(descriptor);
  errno = error;
}

// Creates a file that has no name until it is locked. If the process is killed before that, nothing remains.
int CreateUnnamed(const char* path) {
  char folder[PATH_MAX];
  const char* const slash = strrchr(path, '/');
  const size_t bytes = slash == nullptr ? 0 : static_cast<size_t>(slash - path) + 1;
  if (bytes + sizeof "." > sizeof folder) return -1;
  memcpy(folder, path, bytes);
  memcpy(folder + bytes, ".", sizeof ".");
  const int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) return -1;
  flock(descriptor, LOCK_EX | LOCK_NB);
  char self[40] = "/proc/thread-self/fd/";  // no snprintf: a constructor before libc's may be here
  *std::to_chars(self + strlen(self), std::end(self) - 1, descriptor).ptr = 0;
  if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) return descriptor;
  CloseKeepingErrno(descriptor);
  return -1;
}

// link() never replaces a file, and renameat2 does not with RENAME_NOREPLACE. Some file systems have only one of them.
bool MoveWithoutReplacing(const char* from, const char* to) {
  if (link(from, to) == 0) {
    unlink(from);
    return true;
  }
  constexpr int kNoReplace = 1;  // RENAME_NOREPLACE; glibc has the function from 2.28 on
  return errno != EEXIST && syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, kNoReplace) == 0;
}

// Creates a file whose temporary name no cleanup removes until the file is locked.
int CreateUnderTemporaryName(const char* path) {
  char temporary[PATH_MAX];
  constexpr char kRandomPart[] = ".XXXXXX";
  const size_t bytes = strlen(path);
  if (bytes + sizeof kRandomPart > sizeof temporary) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(temporary, path, bytes);
  memcpy(temporary + bytes, kRandomPart, sizeof kRandomPart);
  const int descriptor = mkostemp(temporary, O_CLOEXEC);
  if (descriptor < 0) return -1;
  flock(descriptor, LOCK_EX | LOCK_NB);
  if (MoveWithoutReplacing(temporary, path)) return descriptor;
  const int error = errno;
  unlink(temporary);
  close(descriptor);
  errno = error;
  return -1;
}

bool RefersTo(int folder, const char* name, int file) {
  struct stat named {
  }, own{};
  return fstat(file, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

}  // namespace

int CreateLocked(const char* path, Creation creation) {
  if (creation == Creation::kUnnamed) {
    const int descriptor = CreateUnnamed(path);
    if (descriptor >= 0 || errno == EEXIST) return descriptor;
  }
  return CreateUnderTemporaryName(path);
}

int OpenAbandoned(int folder, const char* name) {
  // O_NONBLOCK: a user who may write to the folder may have put a FIFO there.
  const int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return -1;
  struct stat status {};
  const bool is_ours = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  const bool is_locked = is_ours && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  // Another process may have removed the file and released its lock after it was opened here.
  if (is_locked && RefersTo(folder, name, descriptor)) return descriptor;
  CloseKeepingErrno(descriptor);
  return -1;
}

bool RemoveLocked(int folder, const char* name, int locked) {
  // The name cannot refer to another file meanwhile: removing it requires this lock, and CreateLocked replaces nothing.
  return RefersTo(folder, name, locked) && unlinkat(folder, name, 0) == 0;
}

bool RemoveAbandoned(int folder, const char* name) {
  const int descriptor = OpenAbandoned(folder, name);
  if (descriptor < 0) return false;
  const bool is_removed = RemoveLocked(folder, name, descriptor);
  CloseKeepingErrno(descriptor);
  return is_removed;
}

}  // namespace heaprec
