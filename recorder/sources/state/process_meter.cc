#include "recorder/sources/state/process_meter.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/descriptors.h"
#include "base/time.h"

namespace heaprec::sources {
namespace {

using format::AccountItem;
using format::Amount;
using format::ProcessAccount;

constexpr uint64_t kRarelyNs = 10 * kNsPerSecond;
constexpr size_t kMostLevels = 32;
constexpr uint64_t kManyDescriptors = 1000;
constexpr int kMaxThreads = 4096;
// Version 1 has a number where there is no limit: the largest one in whole pages.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;
// glibc, 64 bits: arenas of malloc beside the main one, reserved and aligned by this.
constexpr uint64_t kArenaBytes = uint64_t{64} << 20;

// Empty: it cannot be read. Longer files are cut.
std::string ReadText(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> room;
  constexpr size_t kMost = 64 << 10;
  for (;;) {
    const ssize_t got = read(file, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() > kMost) break;
    text.append(room.data(), static_cast<size_t>(got));
  }
  close(file);
  return text;
}

std::optional<uint64_t> NumberIn(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// Behind `key` at the beginning of a line.
std::optional<uint64_t> NumberAfter(std::string_view key, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return NumberIn(line.substr(key.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

// "max" of version 2, "-1" or a huge number of version 1: no limit. Not taken: there is no such file.
Amount LimitIn(const std::string& path) {
  const std::string text = ReadText(path);
  if (text.empty()) return {};
  const auto value = NumberIn(text);
  return value && *value < kNoLimit ? Amount::Of(*value) : Amount::NoLimit();
}

Amount AmountIn(const std::string& path) {
  const auto value = NumberIn(ReadText(path));
  return value ? Amount::Of(*value) : Amount();
}

Amount Taken(std::optional<uint64_t> value, uint64_t unit = 1) { return value ? Amount::Of(*value * unit) : Amount(); }

Amount Known(std::optional<uint64_t> value, uint64_t unit = 1) {
  return value ? Amount::Of(*value * unit) : Amount::NotKnown();
}

bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    if (one == word) return true;
    list.remove_prefix(std::min(one.size() + 1, list.size()));
  }
  return false;
}

// Thousandths of a core. Version 2: "quota period" or "max period" in one file.
Amount QuotaIn(const std::string& folder, int version) {
  std::string quota_text, period_text;
  if (version == 1) {
    quota_text = ReadText(folder + "/cpu.cfs_quota_us");
    period_text = ReadText(folder + "/cpu.cfs_period_us");
  } else {
    std::istringstream(ReadText(folder + "/cpu.max")) >> quota_text >> period_text;
  }
  if (quota_text.empty()) return {};
  const auto quota = NumberIn(quota_text), period = NumberIn(period_text);
  return quota && period && *period > 0 ? Amount::Of(*quota * 1000 / *period) : Amount::NoLimit();
}

Amount ProcessLimit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return Amount::NotKnown();
  return limit.rlim_cur == RLIM_INFINITY ? Amount::NoLimit() : Amount::Of(limit.rlim_cur);
}

}  // namespace

CgroupMeter::CgroupMeter(std::string root) : root_(std::move(root)) {
  FindMounts();
  Choose();
}

uint64_t CgroupMeter::inode() const {
  struct stat folder {};
  return !memory_.folder.empty() && stat(memory_.folder.c_str(), &folder) == 0 ? folder.st_ino : 0;
}

// A line: "id parent device root mount-point options ... - type source options-of-the-type". A controller belongs to
// one hierarchy, so version 2 has what no mount of version 1 has.
void CgroupMeter::FindMounts() {
  std::ifstream mounts(root_ + "/proc/self/mountinfo");
  Controller unified;
  for (std::string line; std::getline(mounts, line);) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    std::istringstream before(line), after(line.substr(dash + 3));
    std::string skipped, shown, point, type, source, options;
    before >> skipped >> skipped >> skipped >> shown >> point;
    after >> type >> source >> options;
    if (type == "cgroup2" && unified.version == 0) unified = {2, root_ + point, shown, {}};
    if (type != "cgroup") continue;
    for (const auto& [controller, name] : {std::pair(&memory_, "memory"), {&pids_, "pids"}, {&cpu_, "cpu"}}) {
      if (HasWord(options, name)) *controller = {1, root_ + point, shown, {}};
    }
  }
  for (Controller* controller : {&memory_, &pids_, &cpu_}) {
    if (controller->version == 0) *controller = unified;
  }
}

std::vector<std::string> CgroupMeter::FoldersOf(const Controller& controller, std::string_view name,
                                                std::string_view own) const {
  std::vector<std::string> folders;
  if (controller.version == 0) return folders;
  // "id:controllers:path"; version 2: "0::path".
  std::string path;
  std::istringstream lines{std::string(own)};
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.version == 2 ? controllers.empty() : HasWord(controllers, name)) path = line.substr(second + 1);
  }
  // A container may see its cgroup's path on the host; the mount then shows nothing but that cgroup.
  const std::string& shown = controller.mount_root;
  if (shown != "/" && path.starts_with(shown)) path.erase(0, shown.size());
  if (path.starts_with("/..") || (shown != "/" && !path.empty() && !path.starts_with('/'))) path.clear();
  while (path.ends_with('/')) path.pop_back();
  if (access((controller.mount + path).c_str(), F_OK) != 0) path.clear();
  while (folders.size() < kMostLevels) {
    folders.push_back(controller.mount + path);
    if (path.empty()) break;
    path.erase(path.rfind('/'));
  }
  return folders;
}

void CgroupMeter::Choose() {
  const std::string own = ReadText(root_ + "/proc/self/cgroup");
  const auto choose = [&](Controller* controller, std::string_view name, const auto& limit_in) {
    controller->folder.clear();
    uint64_t least = UINT64_MAX;
    for (const std::string& folder : FoldersOf(*controller, name, own)) {
      if (controller->folder.empty()) controller->folder = folder;
      const Amount limit = limit_in(folder);
      if (limit.ValueOr(least) < least) {
        least = limit.value();
        controller->folder = folder;
      }
    }
  };
  const bool is_first = memory_.version == 1;
  choose(&memory_, "memory", [&](const std::string& folder) {
    return LimitIn(folder + (is_first ? "/memory.limit_in_bytes" : "/memory.max"));
  });
  choose(&pids_, "pids", [](const std::string& folder) { return LimitIn(folder + "/pids.max"); });
  choose(&cpu_, "cpu", [&](const std::string& folder) { return QuotaIn(folder, cpu_.version); });
}

void CgroupMeter::Read(uint64_t now_ns, ProcessAccount* account) {
  if (now_ns >= next_choice_ns_) {
    Choose();
    next_choice_ns_ = now_ns + kRarelyNs;
  }
  if (!memory_.folder.empty()) memory_.version == 1 ? ReadMemory1(account) : ReadMemory2(account);
  if (!pids_.folder.empty()) ReadThreads(account);
  if (!cpu_.folder.empty()) ReadCpu(account);
}

void CgroupMeter::ReadMemory2(ProcessAccount* account) const {
  const std::string at = memory_.folder + "/memory.";
  account->Set(AccountItem::kCgroupMax, LimitIn(at + "max"));
  account->Set(AccountItem::kCgroupHigh, LimitIn(at + "high"));
  account->Set(AccountItem::kCgroupSwapMax, LimitIn(at + "swap.max"));
  account->Set(AccountItem::kCgroupCurrent, AmountIn(at + "current"));
  account->Set(AccountItem::kCgroupSwap, AmountIn(at + "swap.current"));
  const std::string use = ReadText(at + "stat"), events = ReadText(at + "events");
  account->Set(AccountItem::kCgroupAnon, Taken(NumberAfter("anon ", use)));
  account->Set(AccountItem::kCgroupFile, Taken(NumberAfter("file ", use)));
  account->Set(AccountItem::kCgroupShmem, Taken(NumberAfter("shmem ", use)));
  account->Set(AccountItem::kCgroupKernel, Taken(NumberAfter("kernel ", use)));
  account->Set(AccountItem::kCgroupMaxEvents, Taken(NumberAfter("max ", events)));
  account->Set(AccountItem::kCgroupHighEvents, Taken(NumberAfter("high ", events)));
  account->Set(AccountItem::kCgroupOomEvents, Taken(NumberAfter("oom ", events)));
  account->Set(AccountItem::kCgroupOomKills, Taken(NumberAfter("oom_kill ", events)));
}

// The sums are those of the cgroups inside, too, as version 2 has them.
void CgroupMeter::ReadMemory1(ProcessAccount* account) const {
  const std::string at = memory_.folder + "/memory.";
  const Amount limit = LimitIn(at + "limit_in_bytes"), with_swap = LimitIn(at + "memsw.limit_in_bytes");
  account->Set(AccountItem::kCgroupMax, limit);
  account->Set(AccountItem::kCgroupSwapMax,
               with_swap.is_known() && limit.is_known()
                   ? Amount::Of(with_swap.value() - std::min(with_swap.value(), limit.value()))
                   : with_swap);
  account->Set(AccountItem::kCgroupCurrent, AmountIn(at + "usage_in_bytes"));
  account->Set(AccountItem::kCgroupKernel, AmountIn(at + "kmem.usage_in_bytes"));
  account->Set(AccountItem::kCgroupMaxEvents, AmountIn(at + "failcnt"));
  const std::string use = ReadText(at + "stat");
  account->Set(AccountItem::kCgroupAnon, Taken(NumberAfter("total_rss ", use)));
  account->Set(AccountItem::kCgroupFile, Taken(NumberAfter("total_cache ", use)));
  account->Set(AccountItem::kCgroupShmem, Taken(NumberAfter("total_shmem ", use)));
  account->Set(AccountItem::kCgroupSwap, Taken(NumberAfter("total_swap ", use)));
  account->Set(AccountItem::kCgroupOomKills, Taken(NumberAfter("oom_kill ", ReadText(at + "oom_control"))));
}

void CgroupMeter::ReadThreads(ProcessAccount* account) const {
  account->Set(AccountItem::kCgroupPids, AmountIn(pids_.folder + "/pids.current"));
  account->Set(AccountItem::kCgroupPidsMax, LimitIn(pids_.folder + "/pids.max"));
}

void CgroupMeter::ReadCpu(ProcessAccount* account) const {
  account->Set(AccountItem::kCgroupCpuQuota, QuotaIn(cpu_.folder, cpu_.version));
  const std::string use = ReadText(cpu_.folder + "/cpu.stat");
  account->Set(AccountItem::kCgroupThrottledNs, cpu_.version == 1 ? Taken(NumberAfter("throttled_time ", use))
                                                                  : Taken(NumberAfter("throttled_usec ", use), 1000));
}

void ProcessMeter::Read(uint64_t now_ns, ProcessAccount* account) {
  constexpr uint64_t kKilobyte = 1024;
  cgroup_.Read(now_ns, account);
  const std::string host = ReadText(root_ + "/proc/meminfo");
  account->Set(AccountItem::kHostTotal, Known(NumberAfter("MemTotal:", host), kKilobyte));
  account->Set(AccountItem::kHostAvailable, Known(NumberAfter("MemAvailable:", host), kKilobyte));
  const std::string own = ReadText(root_ + "/proc/self/status");
  account->Set(AccountItem::kRssAnon, Known(NumberAfter("RssAnon:", own), kKilobyte));
  account->Set(AccountItem::kRssFile, Known(NumberAfter("RssFile:", own), kKilobyte));
  account->Set(AccountItem::kRssShmem, Known(NumberAfter("RssShmem:", own), kKilobyte));
  account->Set(AccountItem::kSwap, Known(NumberAfter("VmSwap:", own), kKilobyte));
  account->Set(AccountItem::kThreads, Known(NumberAfter("Threads:", own)));
  account->Set(AccountItem::kThreadsMax, ProcessLimit(RLIMIT_NPROC));
  account->Set(AccountItem::kDescriptorsMax, ProcessLimit(RLIMIT_NOFILE));
  CountDescriptors(now_ns, account);
}

// Since Linux 6.2 the folder's size is the number of its entries. Otherwise they are read, many of them rarely.
void ProcessMeter::CountDescriptors(uint64_t now_ns, ProcessAccount* account) {
  const std::string path = root_ + "/proc/self/fd";
  struct stat folder {};
  const bool has_size = stat(path.c_str(), &folder) == 0 && folder.st_size > 0 && root_.empty();
  if (has_size) {
    descriptors_ = static_cast<uint64_t>(folder.st_size);
  } else if (now_ns >= next_count_ns_) {
    const GuardedFd entries(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (entries.number() < 0) return account->Set(AccountItem::kDescriptors, Amount::NotKnown());
    descriptors_ = 0;
    ForEachEntry(entries.number(), [this](const char* name) {
      if (name[0] != '.') ++descriptors_;
      return true;
    });
    descriptors_ -= descriptors_ > 0 && root_.empty() ? 1 : 0;  // the one that reads
    if (descriptors_ > kManyDescriptors) next_count_ns_ = now_ns + kRarelyNs;
  }
  account->Set(AccountItem::kDescriptors, Amount::Of(descriptors_));
}

// A line "number arguments... sp pc" of a thread that waits in the kernel; a running one keeps its last address, which
// is in the same stack.
void MappingsMeter::FindStacks() {
  const std::string path = root_ + "/proc/self/task";
  const GuardedFd tasks(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::map<pid_t, uintptr_t> now;
  int left = kMaxThreads;
  ForEachEntry(tasks.number(), [&](const char* task) {
    pid_t id = 0;
    const char* const end = task + std::strlen(task);
    if (std::from_chars(task, end, id).ptr != end) return true;
    const std::string call = ReadText(path + "/" + task + "/syscall");
    const size_t last = call.rfind(' '), before = last == call.npos ? last : call.rfind(' ', last - 1);
    uintptr_t address = 0;
    if (before != call.npos && call.compare(before, 3, " 0x") == 0) {
      (void)std::from_chars(call.data() + before + 3, call.data() + last, address, 16);
    }
    const auto known = stacks_.find(id);
    if (address == 0 && known != stacks_.end()) address = known->second;
    if (address != 0) now[id] = address;
    return --left > 0;
  });
  stacks_ = std::move(now);
}

void MappingsMeter::Read(ProcessAccount* account) {
  struct Mapping {
    uintptr_t begin = 0, end = 0;
    bool is_writable = false, is_accessible = true;
    std::string path;
    uint64_t resident = 0;
  };
  FindStacks();
  std::set<uintptr_t> stacks;
  for (const auto& [thread, address] : stacks_) stacks.insert(address);
  std::vector<Mapping> mappings;
  std::ifstream file(root_ + "/proc/self/smaps");
  for (std::string line; std::getline(file, line);) {
    Mapping one;
    char access[8] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %n", &one.begin, &one.end, access,
                    &path_at) == 3) {
      one.is_writable = access[1] == 'w';
      one.is_accessible = !std::string_view(access).starts_with("---");
      if (path_at > 0) one.path = line.substr(static_cast<size_t>(path_at));
      mappings.push_back(std::move(one));
    } else if (line.starts_with("Rss:") && !mappings.empty()) {
      mappings.back().resident = NumberIn(std::string_view(line).substr(4)).value_or(0) << 10;
    }
  }
  rest_.reset();
  if (mappings.empty()) return;
  // An arena's mapping, or its first part, begins at a multiple of its size and is followed by what is only reserved.
  const auto is_arena = [&](size_t i) {
    const Mapping& one = mappings[i];
    if (!one.path.empty() || !one.is_writable || one.begin % kArenaBytes != 0) return false;
    if (one.end - one.begin == kArenaBytes) return true;
    return i + 1 < mappings.size() && mappings[i + 1].begin == one.end && !mappings[i + 1].is_accessible &&
           mappings[i + 1].end - one.begin == kArenaBytes;
  };
  uint64_t heap = 0, code = 0, stack = 0, reserved = 0, malloc = 0, libraries = 0, shared = 0, rest = 0;
  for (size_t i = 0; i < mappings.size(); ++i) {
    const Mapping& one = mappings[i];
    const auto in_stack = stacks.lower_bound(one.begin);
    if (heap_.Holds(one.begin)) {
      heap += one.resident;
    } else if (code_.Holds(one.begin)) {
      code += one.resident;
    } else if (one.path == "[heap]" || is_arena(i)) {
      malloc += one.resident;
    } else if (one.path.ends_with(".jsa")) {
      shared += one.resident;
    } else if (one.path.starts_with('/') && !one.path.starts_with("/memfd:")) {
      libraries += one.resident;
    } else if (one.is_writable && in_stack != stacks.end() && *in_stack < one.end) {
      stack += one.resident;
      reserved += one.end - one.begin;
    } else {
      rest += one.resident;
    }
  }
  const auto range = [](const hotspot::JvmMeter::Range& of, uint64_t bytes) {
    return of.begin < of.end ? Amount::Of(bytes) : Amount::NotKnown();
  };
  account->Set(AccountItem::kHeapResident, range(heap_, heap));
  account->Set(AccountItem::kCodeResident, range(code_, code));
  account->Set(AccountItem::kStacksReserved, stacks.empty() ? Amount::NotKnown() : Amount::Of(reserved));
  account->Set(AccountItem::kStacksResident, stacks.empty() ? Amount::NotKnown() : Amount::Of(stack));
  account->Set(AccountItem::kMallocResident, Amount::Of(malloc));
  account->Set(AccountItem::kLibrariesResident, Amount::Of(libraries));
  account->Set(AccountItem::kSharedDataResident, Amount::Of(shared));
  rest_ = rest;
}

}  // namespace heaprec::sources
