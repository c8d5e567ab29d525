// What the process uses, by owner, and the limits it has: a snapshot's further values.
//
// Units:    bytes, unless an item's comment says otherwise.
// Format:   docs/format/recording.md#account
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace heaprec::format {

// An amount as it is stored. A recorder takes some items rarely, and may leave out what has not changed for less than
// ten seconds; so a reader uses the latest amount of each item (ProcessAccount::Update).
class Amount {
 public:
  constexpr Amount() = default;
  static constexpr Amount Of(uint64_t value) { return Amount(std::min(value, kLargest) + kFirst); }
  static constexpr Amount NotKnown() { return Amount(1); }
  static constexpr Amount NoLimit() { return Amount(2); }
  static constexpr Amount OfCode(uint64_t code) { return Amount(code); }

  constexpr bool was_taken() const { return code_ != 0; }
  constexpr bool is_known() const { return code_ >= kFirst; }
  constexpr bool has_no_limit() const { return code_ == 2; }
  // Precondition: is_known().
  constexpr uint64_t value() const { return code_ - kFirst; }
  constexpr uint64_t ValueOr(uint64_t otherwise) const { return is_known() ? value() : otherwise; }
  constexpr uint64_t code() const { return code_; }
  constexpr bool operator==(const Amount&) const = default;

 private:
  static constexpr uint64_t kFirst = 3, kLargest = UINT64_MAX - kFirst;
  explicit constexpr Amount(uint64_t code) : code_(code) {}
  uint64_t code_ = 0;
};

// What is counted. Numbers are those of the format: only appended.
enum class AccountItem : uint8_t {
  // The container: the tightest limit of its cgroup and the cgroups above it, and the use of the cgroup that has it.
  kCgroupMax = 0,
  kCgroupHigh = 1,
  kCgroupSwapMax = 2,  // of swap alone
  kCgroupCurrent = 3,
  kCgroupAnon = 4,
  kCgroupFile = 5,
  kCgroupShmem = 6,
  kCgroupKernel = 7,
  kCgroupSwap = 8,
  kCgroupMaxEvents = 9,  // events: how often the limit was met
  kCgroupHighEvents = 10,
  kCgroupOomEvents = 11,
  kCgroupOomKills = 12,  // processes that the kernel killed
  kCgroupPids = 13,      // threads
  kCgroupPidsMax = 14,
  kCgroupCpuQuota = 15,     // thousandths of a core
  kCgroupThrottledNs = 16,  // ns
  // The host.
  kHostTotal = 17,
  kHostAvailable = 18,
  // The process as the kernel sees it.
  kRssAnon = 19,
  kRssFile = 20,
  kRssShmem = 21,
  kSwap = 22,
  kDescriptors = 23,  // open
  kDescriptorsMax = 24,
  kThreads = 25,     // of the operating system
  kThreadsMax = 26,  // of the user: RLIMIT_NPROC
  // Owners of memory, each: used, committed, resident, limit; what an owner does not have is never taken. The heap's
  // used and committed bytes are the snapshot's own.
  kHeapResident = 27,
  kHeapMax = 28,
  kOldUsed = 29,
  kOldCommitted = 30,
  kOldMax = 31,
  kOldAfterCollection = 32,  // used after the last collection that looked for dead objects in it
  kMetaspaceUsed = 33,       // with class space
  kMetaspaceCommitted = 34,
  kMetaspaceResident = 35,
  kMetaspaceMax = 36,
  kClassSpaceUsed = 37,
  kClassSpaceCommitted = 38,
  kClassSpaceMax = 39,
  kCodeUsed = 40,
  kCodeCommitted = 41,
  kCodeResident = 42,
  kCodeMax = 43,
  kDirectUsed = 44,     // reserved by java.nio.Bits
  kDirectBuffers = 45,  // buffers
  kDirectMax = 46,
  kMappedUsed = 47,
  kMappedBuffers = 48,  // buffers
  kStacksReserved = 49,
  kStacksResident = 50,
  kCollectorCommitted = 51,
  kCollectorResident = 52,
  kMallocUsed = 53,  // what malloc has given out, the direct buffers with it
  kMallocFree = 54,  // what malloc keeps
  kMallocResident = 55,
  kLibrariesResident = 56,
  kSharedDataResident = 57,  // the archive of classes (CDS)
  kOtherJvmCommitted = 58,   // the JVM's own memory that is in no other item
  kUnexplained = 59,         // resident bytes without an owner
  // Sums since the JVM's start.
  kClassesLoaded = 60,       // classes; now loaded
  kThreadStarts = 61,        // threads
  kThreadStartsFailed = 62,  // threads
  kOutOfMemoryErrors = 63,   // errors
  kStackOverflowErrors = 64,
};
inline constexpr size_t kAccountItems = 65;

// The names in output, in the order of AccountItem.
inline constexpr std::array<std::string_view, kAccountItems> kAccountItemNames{"cgroup_max",
                                                                               "cgroup_high",
                                                                               "cgroup_swap_max",
                                                                               "cgroup_current",
                                                                               "cgroup_anon",
                                                                               "cgroup_file",
                                                                               "cgroup_shmem",
                                                                               "cgroup_kernel",
                                                                               "cgroup_swap",
                                                                               "cgroup_max_events",
                                                                               "cgroup_high_events",
                                                                               "cgroup_oom_events",
                                                                               "cgroup_oom_kills",
                                                                               "cgroup_pids",
                                                                               "cgroup_pids_max",
                                                                               "cgroup_cpu_quota_millicores",
                                                                               "cgroup_throttled_ns",
                                                                               "host_total",
                                                                               "host_available",
                                                                               "rss_anon",
                                                                               "rss_file",
                                                                               "rss_shmem",
                                                                               "swap",
                                                                               "descriptors",
                                                                               "descriptors_max",
                                                                               "threads",
                                                                               "threads_max",
                                                                               "heap_resident",
                                                                               "heap_max",
                                                                               "old_used",
                                                                               "old_committed",
                                                                               "old_max",
                                                                               "old_after_collection",
                                                                               "metaspace_used",
                                                                               "metaspace_committed",
                                                                               "metaspace_resident",
                                                                               "metaspace_max",
                                                                               "class_space_used",
                                                                               "class_space_committed",
                                                                               "class_space_max",
                                                                               "code_used",
                                                                               "code_committed",
                                                                               "code_resident",
                                                                               "code_max",
                                                                               "direct_used",
                                                                               "direct_buffers",
                                                                               "direct_max",
                                                                               "mapped_used",
                                                                               "mapped_buffers",
                                                                               "stacks_reserved",
                                                                               "stacks_resident",
                                                                               "collector_committed",
                                                                               "collector_resident",
                                                                               "malloc_used",
                                                                               "malloc_free",
                                                                               "malloc_resident",
                                                                               "libraries_resident",
                                                                               "shared_data_resident",
                                                                               "other_jvm_committed",
                                                                               "unexplained",
                                                                               "classes_loaded",
                                                                               "thread_starts",
                                                                               "thread_starts_failed",
                                                                               "out_of_memory_errors",
                                                                               "stack_overflow_errors"};

class ProcessAccount {
 public:
  Amount operator[](AccountItem item) const {
    const auto at = std::ranges::lower_bound(taken_, item, {}, &Taken::first);
    return at != taken_.end() && at->first == item ? at->second : Amount();
  }
  // An amount that was not taken changes nothing.
  void Set(AccountItem item, Amount amount) {
    if (!amount.was_taken()) return;
    const auto at = std::ranges::lower_bound(taken_, item, {}, &Taken::first);
    if (at != taken_.end() && at->first == item) {
      at->second = amount;
    } else {
      taken_.insert(at, {item, amount});
    }
  }
  // Takes over what a later snapshot says.
  void Update(const ProcessAccount& later) {
    for (const auto& [item, amount] : later.taken_) Set(item, amount);
  }
  using Taken = std::pair<AccountItem, Amount>;
  // Ascending by item.
  const std::vector<Taken>& taken() const { return taken_; }
  bool empty() const { return taken_.empty(); }
  bool operator==(const ProcessAccount&) const = default;

 private:
  std::vector<Taken> taken_;
};

}  // namespace heaprec::format
