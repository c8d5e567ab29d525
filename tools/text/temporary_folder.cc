#include "tools/text/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace heaprec::tools {

std::string TemporaryPattern() {
  const char* const directory = std::getenv("TMPDIR");
  return std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/heaprec-XXXXXX";
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Make() {
  std::string path = TemporaryPattern();
  if (mkdtemp(path.data()) == nullptr) return Error{path + ": " + std::strerror(errno)};
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace heaprec::tools
