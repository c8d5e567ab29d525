// Files that somebody else may have named: opened without following them to devices, pipes or other folders.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/elf_file.h"
#include "base/result.h"

namespace heaprec::tools {

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }  // -1: none

 private:
  int number_ = -1;
};

// Opens files below a root that somebody else controls, such as "/proc/PID/root" of a process in a container. Whatever
// symbolic links are there, or are put there meanwhile, no path leads out of that root.
//
// `root` empty stands for our own root; paths are then resolved as usual. Other paths are absolute, as the process
// sees them.
//
// Threads:  any.
// Failure:  none is open; errno says why. ELOOP: the path has a symbolic link, and the kernel has no openat2 (before
//           5.6, or forbidden by seccomp), without which links cannot be tracked safely.

// As open(2) with these flags, O_CLOEXEC added.
Descriptor OpenBelow(const std::string& root, const std::string& path, int flags);

// For reading. A FIFO, a socket or a device is not opened at all: EINVAL.
Descriptor OpenRegularBelow(const std::string& root, const std::string& path);

// The same, of a file in an open folder; a link is not followed: EINVAL.
Descriptor OpenRegularIn(const Descriptor& folder, const std::string& name);

// The same, of a file of that owner; a last component that is a symbolic link is not tracked: EINVAL. EPERM: it is
// somebody else's.
Descriptor OpenRegularOf(uid_t owner, const std::string& path);

// Opens an ELF file that somebody else may have named: a path to a device or a pipe is not opened at all.
//
// Failure:  an Error with the path and the reason.

Result<ElfFile> OpenElf(const std::string& path);

}  // namespace heaprec::tools
