#include "recorder/buffer/stale_rings.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

namespace heaprec::buffer {
namespace {

struct StaleRing {
  std::string path;
  timespec modified;
};

// nullopt: not ours, or its owner lives.
std::optional<StaleRing> Examine(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  const bool ours = fstat(descriptor, &status) == 0 && status.st_uid == geteuid() && S_ISREG(status.st_mode);
  const bool abandoned = ours && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  close(descriptor);  // and with it the lock
  if (!abandoned) return std::nullopt;
  return StaleRing{path, status.st_mtim};
}

bool IsRingName(const std::string& name) { return name.starts_with("heaprec-") && name.ends_with(".ring"); }

bool Younger(const StaleRing& a, const StaleRing& b) {
  if (a.modified.tv_sec != b.modified.tv_sec) return a.modified.tv_sec > b.modified.tv_sec;
  return a.modified.tv_nsec > b.modified.tv_nsec;
}

}  // namespace

size_t RemoveStaleRings(const std::string& directory, size_t keep) {
  std::vector<StaleRing> stale;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsRingName(entry->path().filename().string())) continue;
    if (auto ring = Examine(entry->path().string())) stale.push_back(std::move(*ring));
  }
  std::sort(stale.begin(), stale.end(), Younger);
  size_t removed = 0;
  for (size_t i = keep; i < stale.size(); ++i) removed += unlink(stale[i].path.c_str()) == 0 ? 1 : 0;
  return removed;
}

}  // namespace heaprec::buffer
