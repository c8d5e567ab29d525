#include "base/standard_error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heaprec {
namespace {

struct File {
  bool is_open = false;
  dev_t device = 0;
  ino_t number = 0;
};
constinit File output, error_output;

File FileOf(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return {};
  return {true, status.st_dev, status.st_ino};
}

// A standard stream stays open after exec. A descriptor that exec closes is a file that the program itself has opened:
// an agent that attaches is loaded into a JVM that has run for a while.
File StreamOf(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0 ? FileOf(descriptor) : File{};
}

// Before any constructor that prints or opens files.
__attribute__((constructor(101))) void NoteStandardStreams() {
  const int error = errno;
  output = StreamOf(STDOUT_FILENO);
  error_output = StreamOf(STDERR_FILENO);
  errno = error;
}

bool IsSame(const File& a, const File& b) {
  return a.is_open && b.is_open && a.device == b.device && a.number == b.number;
}

bool IsLog(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0;
}

}  // namespace

bool IsStandardError(int descriptor) {
  const int error = errno;
  const File file = FileOf(descriptor);
  const bool is = IsSame(file, error_output) || IsSame(file, output) || (error_output.is_open && IsLog(descriptor));
  errno = error;
  return is;
}

}  // namespace heaprec
