#include "tools/input/open_elf.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/input/confined_open.h"

namespace heaprec::tools {

Result<ElfFile> OpenElf(const std::string& path) {
  const auto file = std::make_shared<Descriptor>(OpenRegularBelow("", path));
  if (!file->is_open()) return Error{path + ": " + std::strerror(errno)};
  return ElfFile::Open(path, [file](uint64_t offset, void* out, size_t size) {
    return pread(file->number(), out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  });
}

}  // namespace heaprec::tools
