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

format::Result<uint64_t> RecordingBytes(const Descriptor& file) {
  std::array<std::byte, format::kFilePrefixBytes> prefix{};
  const ssize_t got = pread(file.number(), prefix.data(), prefix.size(), 0);
  const auto header =
      format::FileHeaderBytes(format::Bytes(prefix).first(static_cast<size_t>(std::max<ssize_t>(got, 0))));
  if (!header.ok()) return header.error();
  const off_t hole = lseek(file.number(), 0, SEEK_HOLE);  // its end, if it has none
  struct stat status {};
  if (lseek(file.number(), 0, SEEK_SET) != 0 || fstat(file.number(), &status) != 0) {
    return format::Error{std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe): one thread
  }
  if (hole < 0) return static_cast<uint64_t>(status.st_size);  // a file system that does not know
  if (hole < status.st_size) return format::Error{"not a heaprec recording: the file has holes"};
  return static_cast<uint64_t>(hole);
}

}  // namespace heaprec::tools
