#include "recorder/unwind/open_elf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/descriptors.h"

namespace heaprec::native {

format::Result<ElfFile> OpenElf(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a fifo must not block us
  if (descriptor < 0) return format::Error{path + ": " + strerror(errno)};
  const auto file = std::make_shared<GuardedFd>(descriptor);
  struct stat status {};
  if (fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode))
    return format::Error{path + ": not a regular file"};
  return ElfFile::Open(path, [path, file](uint64_t offset, void* out, size_t size) {
    if (!file->Reopen(path, O_RDONLY)) return false;
    ssize_t got = 0;
    for (; size > 0; size -= static_cast<size_t>(got), offset += static_cast<uint64_t>(got)) {
      got = pread(file->number(), out, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR)
        got = 0;
      else if (got <= 0)
        return false;
      out = static_cast<char*>(out) + got;
    }
    return true;
  });
}

}  // namespace heaprec::native
