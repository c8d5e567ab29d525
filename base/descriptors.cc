#include "base/descriptors.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace heaprec {

GuardedFd::GuardedFd(int descriptor) : number_(MovedUp(descriptor)) {
  struct stat status {};
  if (number_ < 0 || fstat(number_, &status) != 0) return;
  is_known_ = true;
  device_ = status.st_dev;
  file_ = status.st_ino;
}

GuardedFd::GuardedFd(GuardedFd&& other) noexcept
    : number_(std::exchange(other.number_, -1)),
      is_known_(other.is_known_),
      device_(other.device_),
      file_(other.file_) {}

GuardedFd& GuardedFd::operator=(GuardedFd&& other) noexcept {
  Close();
  number_ = std::exchange(other.number_, -1);
  is_known_ = other.is_known_;
  device_ = other.device_;
  file_ = other.file_;
  return *this;
}

bool GuardedFd::IsOurs() const {
  struct stat status {};
  if (number_ < 0) return false;
  if (fstat(number_, &status) != 0) return errno != EBADF;
  return !is_known_ || (status.st_dev == device_ && status.st_ino == file_);
}

bool GuardedFd::Reopen(const std::string& path, int flags) {
  if (IsOurs()) return true;
  GuardedFd again(open(path.c_str(), flags | O_CLOEXEC));
  if (again.number_ < 0 || !again.is_known_ || again.device_ != device_ || again.file_ != file_) return false;
  number_ = std::exchange(again.number_, -1);
  return true;
}

void GuardedFd::ReplaceBy(GuardedFd&& other) {
  if (!IsOurs() || dup3(other.number_, number_, O_CLOEXEC) < 0) {
    *this = std::move(other);
    return;
  }
  is_known_ = other.is_known_;
  device_ = other.device_;
  file_ = other.file_;
  other.Close();
}

GuardedFd GuardedFd::Duplicate() const {
  if (IsOurs()) return GuardedFd(DuplicateHigh(number_));
  errno = EBADF;
  return {};
}

void GuardedFd::Close() {
  if (IsOurs()) close(number_);
  number_ = -1;
}

void LeaveSharedDescriptors() {
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  if (syscall(SYS_close_range, 0U, ~0U, kUnshare) != 0) return;
  // Never opens the file as standard error: the program's writes to it would then go to the file.
  for (int number = STDIN_FILENO; number == STDIN_FILENO || number == STDOUT_FILENO;) {
    number = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

}  // namespace heaprec
