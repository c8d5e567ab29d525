#include "recorder/agent/identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <string_view>

#include "base/time.h"

namespace heaprec::agent {
namespace {

constexpr size_t kMaxRead = 64 << 10;
constexpr size_t kContainerIdDigits = 64;

std::string ReadSmallFile(const char* path) {
  std::string text(kMaxRead, '\0');
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t got = read(descriptor, text.data(), text.size());
  close(descriptor);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

// The first run of exactly 64 lower-case hex digits.
std::string FindContainerId(std::string_view text) {
  size_t run = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool hex = i < text.size() &&
                     (std::isdigit(static_cast<unsigned char>(text[i])) != 0 || (text[i] >= 'a' && text[i] <= 'f'));
    if (hex) {
      ++run;
      continue;
    }
    if (run == kContainerIdDigits) return std::string(text.substr(i - run, run));
    run = 0;
  }
  return {};
}

}  // namespace

format::RecordingId NewRecordingId() {
  format::RecordingId id{};
  if (getrandom(id.data(), id.size(), 0) == static_cast<ssize_t>(id.size())) return id;
  const uint64_t words[2] = {EpochNs(), MonotonicNs() ^ (static_cast<uint64_t>(getpid()) << 40)};
  std::memcpy(id.data(), words, sizeof(words));
  return id;
}

std::string BootId() {
  std::string id = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string ContainerId() {
  std::string id = FindContainerId(ReadSmallFile("/proc/self/cgroup"));
  return id.empty() ? FindContainerId(ReadSmallFile("/proc/self/mountinfo")) : id;
}

std::string DefaultRingPath(const format::RecordingId& id) {
  return fmt::format("{}/heaprec-{}-{:02x}.ring", kRingFolder, getpid(), fmt::join(id, ""));
}

}  // namespace heaprec::agent
