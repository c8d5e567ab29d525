#include "base/descriptors.h"

#include <cerrno>
#include <utility>

namespace heaprec {

GuardedFd::GuardedFd(int descriptor) : number_(MovedUp(descriptor)), file_(IdentityOf(number_)) {}

GuardedFd::GuardedFd(GuardedFd&& other) noexcept : number_(std::exchange(other.number_, -1)), file_(other.file_) {}

GuardedFd& GuardedFd::operator=(GuardedFd&& other) noexcept {
  Close();
  number_ = std::exchange(other.number_, -1);
  file_ = other.file_;
  return *this;
}

bool GuardedFd::IsOurs() const {
  if (number_ < 0) return false;
  const FileIdentity now = IdentityOf(number_);
  if (!now.is_known) return errno != EBADF;
  return !file_.is_known || now == file_;
}

bool GuardedFd::Reopen(const std::string& path, int flags) {
  if (IsOurs()) return true;
  GuardedFd again(open(path.c_str(), flags | O_CLOEXEC));
  if (!again.file_.is_known || again.file_ != file_) return false;
  number_ = std::exchange(again.number_, -1);
  return true;
}

void GuardedFd::ReplaceBy(GuardedFd&& other) {
  if (!IsOurs() || dup3(other.number_, number_, O_CLOEXEC) < 0) {
    *this = std::move(other);
    return;
  }
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
