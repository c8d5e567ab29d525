// Folders of a test's own, and files as it reads them.
//
// Failure:  an exception, which fails the test.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace heaprec::testing {

inline constexpr const char* kSharedMemory = "/dev/shm";

// A new folder; the caller's to remove.
inline std::string MakeFolder(const std::filesystem::path& in) {
  // Not named by the pid alone: in sandboxes of their own two tests may have the same.
  std::string path = in / "heaprec-test-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
  return path;
}

// The same, removed at the end with all that is in it.
class Folder {
 public:
  explicit Folder(const std::filesystem::path& in = std::filesystem::temp_directory_path()) : path_(MakeFolder(in)) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  const std::string path_;
};

inline size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

inline std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::byte> BytesOf(const std::string& path) {
  const std::string content = ContentOf(path);
  const auto* const bytes = reinterpret_cast<const std::byte*>(content.data());
  return {bytes, bytes + content.size()};
}

}  // namespace heaprec::testing
