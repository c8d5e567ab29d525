#include "recorder/sources/state/cpu_meter.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/descriptors.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kFirstPeriodNs = 1'000'000'000, kLongestPeriodNs = 64 * kFirstPeriodNs;
constexpr int kMaxThreads = 4096;  // of those that are looked at

// Serial collects in the VM thread.
constexpr std::array<std::string_view, 10> kCollectors{"GC Thread#",   "G1 ",      "ZDirector",    "ZDriver",
                                                       "ZWorker",      "ZStat",    "ZUncommitter", "Shenandoah GC",
                                                       "Shenandoah C", "VM Thread"};

// As the kernel makes a clock of a thread (clock_getcpuclockid(3) has it for processes): it is checked to be ours.
std::optional<uint64_t> CpuTimeOf(pid_t thread) {
  constexpr unsigned kPerThreadSchedulerClock = 6;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kPerThreadSchedulerClock);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return NanosecondsOf(time);
}

bool HasCollectorName(const char* thread) {
  const std::string path = std::string("/proc/self/task/") + thread + "/comm";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char name[32];
  if (file < 0) return false;
  const ssize_t got = read(file, name, sizeof name);
  close(file);
  return got > 0 && CpuMeter::IsCollector(std::string_view(name, static_cast<size_t>(got)));
}

}  // namespace

bool CpuMeter::IsCollector(std::string_view thread_name) {
  return std::ranges::any_of(kCollectors, [&](std::string_view prefix) { return thread_name.starts_with(prefix); });
}

CpuTimes CpuMeter::Read(uint64_t now_ns) {
  if (now_ns >= next_search_ns_) {
    FindCollectors();
    search_period_ns_ = std::clamp(search_period_ns_ * 2, kFirstPeriodNs, kLongestPeriodNs);
    next_search_ns_ = now_ns + search_period_ns_;
  }
  CpuTimes times;
  timespec process{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process) == 0) times.process_ns = NanosecondsOf(process);
  for (Thread& thread : collectors_) {
    const auto now = thread.has_ended ? std::nullopt : CpuTimeOf(thread.id);
    // Less than before: another thread has its number now.
    thread.has_ended |= !now || *now < thread.cpu_ns;
    if (!thread.has_ended) thread.cpu_ns = *now;
    times.collector_ns += thread.cpu_ns;
  }
  return times;
}

void CpuMeter::FindCollectors() {
  const GuardedFd tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int left = kMaxThreads;
  ForEachEntry(tasks.number(), [&](const char* task) {
    pid_t id = 0;
    const char* const end = task + std::strlen(task);
    if (std::from_chars(task, end, id).ptr != end) return true;
    const bool is_known =
        std::ranges::any_of(collectors_, [id](const Thread& thread) { return thread.id == id && !thread.has_ended; });
    if (!is_known && HasCollectorName(task)) collectors_.push_back({.id = id});
    return --left > 0;
  });
}

}  // namespace heaprec::sources
