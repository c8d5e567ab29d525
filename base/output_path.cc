#include "base/output_path.h"

#include <time.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/time.h"

namespace heaprec {
namespace {

std::string LocalTime(uint64_t epoch_ns) {
  const auto seconds = static_cast<time_t>(epoch_ns / kNsPerSecond);
  tm parts{};
  std::array<char, 64> text{};
  strftime(text.data(), text.size(), "%Y_%m_%d_%H_%M_%S", localtime_r(&seconds, &parts));
  return text.data();
}

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

OutputPath::OutputPath(std::string pattern, uint32_t pid, uint64_t epoch_ns)
    : pattern_(std::move(pattern)),
      pid_(std::to_string(pid)),
      time_(LocalTime(epoch_ns)),
      is_numbered_(Expand(0) != Expand(1)) {}

std::string OutputPath::Expand(int number) const {
  std::string path;
  for (size_t i = 0; i < pattern_.size(); ++i) {
    const char next = pattern_[i] == '%' && i + 1 < pattern_.size() ? pattern_[i + 1] : '\0';
    if (next == 'p') {
      path += pid_;
    } else if (next == 't') {
      path += time_;
    } else if (next == 'n') {
      path += std::to_string(number);
    } else if (next == '%') {
      path += '%';
    } else {
      path += pattern_[i];
      continue;
    }
    ++i;
  }
  return path;
}

std::string OutputPath::Name(int number) const {
  std::filesystem::path path = Expand(number);
  if (!is_numbered_ && number > 0) {
    path.replace_filename(path.stem().native() + "-" + std::to_string(number) + path.extension().native());
  }
  return path;
}

std::string OutputPath::Literal(const std::string& path) {
  std::string pattern;
  for (const char sign : path) pattern += sign == '%' ? "%%" : std::string(1, sign);
  return pattern;
}

Status CheckOutput(const std::string& path) {
  const char* const obstacle = Obstacle(path);
  if (obstacle == nullptr) return {};
  return Error{path + ": " + obstacle + "; name a file to record into"};
}

}  // namespace heaprec
