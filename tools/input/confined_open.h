// Opens files whose names other users may control, without following links to devices, pipes or other folders.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/elf_file.h"
#include "base/result.h"

namespace heaprec::tools {

// A descriptor that is closed by its destructor.
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

// Opens files below a root that another user controls, such as "/proc/PID/root" of a process in a container. No path
// leads out of that root, even if symbolic links are added meanwhile.
//
// An empty `root` means our own root; paths are then resolved as usual. Otherwise paths are absolute paths of the
// process.
//
// Threads:  any.
// Failure:  returns no descriptor, with errno. ELOOP: the path has a symbolic link, and the kernel has no openat2
//           (before 5.6, or forbidden by seccomp), without which links cannot be tracked safely.

// Like open(2) with these flags and O_CLOEXEC.
Descriptor OpenBelow(const std::string& root, const std::string& path, int flags);

// Opens for reading. Fails with EINVAL for a FIFO, a socket or a device, which is not opened at all.
Descriptor OpenRegularBelow(const std::string& root, const std::string& path);

// The same for a file in an open folder; fails with EINVAL for a link.
Descriptor OpenRegularIn(const Descriptor& folder, const std::string& name);

// The same for a file of this owner; EPERM: it has another owner. Fails with EINVAL if the last component is a symbolic
// link.
Descriptor OpenRegularOf(uid_t owner, const std::string& path);

// Returns the start of a small file, or of a file of /proc; empty if it cannot be read.
std::string ReadSmallFile(const std::string& path, size_t most = size_t{1} << 20);

// Opens an ELF file whose path another user may control: never opens a device or a pipe.
//
// Failure:  an Error with the path and the reason.
Result<ElfFile> OpenElf(const std::string& path);

}  // namespace heaprec::tools
