#include "base/output_path.h"

#include <filesystem>
#include <system_error>

namespace heaprec {
namespace {

// A link into /proc (/dev/stdout) may lead to a regular file, but that belongs to the program.
const char* Obstacle(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(path, error);
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return target.empty() ? nullptr : "is a dangling symbolic link";
  const bool is_file = std::filesystem::is_regular_file(status) && !target.native().starts_with("/proc/");
  return is_file ? nullptr : "exists and is not a regular file";
}

}  // namespace

std::optional<Error> WhyNoRecordingAt(const std::string& path) {
  const char* const obstacle = Obstacle(path);
  if (obstacle == nullptr) return std::nullopt;
  return Error{path + ": " + obstacle + "; name a file to record into"};
}

}  // namespace heaprec
