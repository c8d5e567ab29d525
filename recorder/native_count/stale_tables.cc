#include "recorder/native_count/stale_tables.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <span>
#include <string_view>
#include <tuple>

#include "base/descriptors.h"
#include "base/locked_file.h"

namespace heaprec::native {
namespace {

constexpr std::string_view kPrefix = "heaprec-native-";
constexpr size_t kMaxAtOnce = 64;

struct Stale {
  pid_t process;
  timespec modified;
};

bool IsYounger(const Stale& a, const Stale& b) {
  return std::tie(a.modified.tv_sec, a.modified.tv_nsec) > std::tie(b.modified.tv_sec, b.modified.tv_nsec);
}

// Returns 0 if this is not the name of a table.
pid_t ProcessOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && end == name.data() + name.size() ? process : 0;
}

// A process in another pid namespace, whose number is unused here, holds the lock of its table.
bool IsStale(int folder, const char* name, Stale* into) {
  if (kill(into->process, 0) == 0 || errno != ESRCH) return false;
  const int table = OpenAbandoned(folder, name);
  if (table < 0) return false;
  struct stat status {};
  const bool is_known = fstat(table, &status) == 0;
  close(table);  // also releases the lock
  into->modified = status.st_mtim;
  return is_known;
}

size_t FindStale(int folder, std::span<Stale> into) {
  size_t count = 0;
  ForEachEntry(folder, [&](const char* name) {
    Stale stale{ProcessOf(name), {}};
    if (stale.process > 0 && IsStale(folder, name, &stale)) into[count++] = stale;
    return count < into.size();
  });
  return count;
}

bool Remove(int folder, pid_t process) {
  std::array<char, 32> name{};
  std::copy(kPrefix.begin(), kPrefix.end(), name.begin());
  std::to_chars(name.data() + kPrefix.size(), name.data() + name.size() - 1, process);
  return RemoveAbandoned(folder, name.data());
}

}  // namespace

size_t RemoveStaleTables(const char* folder, size_t keep) {
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::array<Stale, kMaxAtOnce> all;
  const std::span<Stale> stale = std::span(all).first(FindStale(descriptor, all));
  std::sort(stale.begin(), stale.end(), IsYounger);
  size_t removed = 0;
  for (size_t i = keep; i < stale.size(); ++i) removed += Remove(descriptor, stale[i].process) ? 1 : 0;
  close(descriptor);
  return removed;
}

}  // namespace heaprec::native
