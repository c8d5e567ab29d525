#include "tools/control/written_recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "format/bytes/layout.h"
#include "format/codec/file_header.h"

namespace heaprec::tools {

Result<uint64_t> RecordingBytes(const Descriptor& file) {
  std::array<std::byte, format::kFilePrefixBytes> prefix{};
  const ssize_t got = pread(file.number(), prefix.data(), prefix.size(), 0);
  const auto header =
      format::FileHeaderBytes(format::Bytes(prefix).first(static_cast<size_t>(std::max<ssize_t>(got, 0))));
  if (!header.ok()) return header.error();
  // Its size first: what is added after that is behind it, and no hole.
  struct stat status {};
  const bool has_size = fstat(file.number(), &status) == 0;
  const off_t hole = lseek(file.number(), 0, SEEK_HOLE);  // the end, if there is none; -1: the file system cannot tell
  if (!has_size || lseek(file.number(), 0, SEEK_SET) != 0) {
    return Error{std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe): one thread
  }
  if (hole >= 0 && hole < status.st_size)
    return Error{"not a complete heaprec recording: the file is sparse, which the agent never writes"};
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace heaprec::tools
