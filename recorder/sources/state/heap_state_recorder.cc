#include "recorder/sources/state/heap_state_recorder.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/descriptors.h"
#include "base/time.h"
#include "recorder/buffer/lane_lease.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kFirstPeriodNs = 1'000'000'000, kLongestPeriodNs = 64 * kFirstPeriodNs;
constexpr int kMaxThreads = 4096;  // maximum number of threads to examine

// Serial collects in the VM thread.
constexpr std::array<std::string_view, 10> kCollectors{"GC Thread#",   "G1 ",      "ZDirector",    "ZDriver",
                                                       "ZWorker",      "ZStat",    "ZUncommitter", "Shenandoah GC",
                                                       "Shenandoah C", "VM Thread"};

// Computes the clock's number as the kernel does (clock_getcpuclockid(3) does this for processes). The kernel checks
// that the thread belongs to this process.
std::optional<uint64_t> CpuTimeOf(pid_t thread) {
  constexpr unsigned kPerThreadSchedulerClock = 6;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kPerThreadSchedulerClock);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return NanosecondsOf(time);
}

// Reads a short file of /proc, up to the size of the buffer. Returns an empty text if it cannot be read.
std::string_view ReadProc(const char* path, std::span<char> room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  ssize_t got = 0;
  do {
    got = read(file, room.data(), room.size());
  } while (got < 0 && errno == EINTR);
  close(file);
  return {room.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

bool HasCollectorName(const char* thread) {
  std::array<char, 32> name;
  return CpuMeter::IsCollector(ReadProc((std::string("/proc/self/task/") + thread + "/comm").c_str(), name));
}

constexpr uint64_t kPeriodNs = 1'000'000'000;
constexpr double kFull = 0.9;  // of the old generation
// Ticks come every 20 to 100 ms: without this every period would be late by up to one.
constexpr uint64_t kEarlyNs = 50'000'000;
// Lane hint for the JVM's own thread and the drain; differs from those of Java threads.
constexpr uint32_t kLane = 0;

// The second number of statm, in pages. Returns 0 if it is unknown.
uint64_t ResidentBytes() {
  std::array<char, 128> room;
  const std::string_view text = ReadProc("/proc/self/statm", room);
  const size_t space = text.find(' ');
  uint64_t pages = 0;
  if (space == text.npos ||
      std::from_chars(text.data() + space + 1, text.data() + text.size(), pages).ec != std::errc())
    return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
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
    // Less than before: the number now belongs to another thread.
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

std::atomic<HeapStateRecorder*> active_heap_states{nullptr};

HeapStateRecorder::HeapStateRecorder(buffer::Ring& ring, const hotspot::HeapMeter& meter,
                                     const hotspot::JvmMeter& usage)
    : ring_(ring), meter_(meter), usage_(usage), old_collections_(meter.OldCollections()) {
  concurrent_pauses_ = usage.ConcurrentPauses();
}

void HeapStateRecorder::Fill(format::ProcessStateKind kind, uint64_t now_ns, format::StateRecord* into) const {
  format::StateRecord& record = *into;
  record.monotonic_ns = now_ns;
  record.kind = static_cast<uint16_t>(kind);
  record.used = meter_.Used();
  record.committed = meter_.Committed();
  record.collections = static_cast<uint32_t>(meter_.Collections());
  const auto old_collections = meter_.OldCollections();
  record.old_collections = old_collections ? static_cast<uint32_t>(*old_collections + 1) : 0;
}

void HeapStateRecorder::Commit(format::ProcessStateKind kind, uint64_t now_ns, format::StateRecord record) {
  Fill(kind, now_ns, &record);
  Write(record);
}

void HeapStateRecorder::CommitMemory(uint64_t time_ns, const Memory& memory) {
  format::StateRecord record{};
  record.monotonic_ns = time_ns;
  record.kind = static_cast<uint16_t>(format::ProcessStateKind::kMemory);
  record.used = memory.used;
  record.committed = memory.committed;
  record.rss = memory.rss;
  memory.category.copy(record.cause, sizeof(record.cause));
  Write(record);
}

void HeapStateRecorder::Write(format::StateRecord record) {
  record.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  (void)buffer::CommitRecord(ring_, kLane, format::RecordType::kState, record);
}

void HeapStateRecorder::OnGcBegin() {
  format::StateRecord record{};
  meter_.Cause(record.cause, sizeof(record.cause));
  gc_begin_ns_ = MonotonicNs();
  Commit(format::ProcessStateKind::kGcBegin, gc_begin_ns_, record);
}

void HeapStateRecorder::Post(const format::ProcessAccount& items) {
  const std::lock_guard lock(mutex_);
  posted_.Update(items);
}

// The account is complete in the ring: after a kill its reader has nothing but the last one.
void HeapStateRecorder::CommitSnapshot(uint64_t now_ns) {
  format::StateRecord record{};
  record.threads = meter_.LiveThreads();
  record.rss = ResidentBytes();
  Fill(format::ProcessStateKind::kSnapshot, now_ns, &record);
  format::ProcessAccount account;
  {
    const std::lock_guard lock(mutex_);
    account = posted_;
  }
  process_.Read(now_ns, &account);
  usage_.Read(&account);
  if (counts_failed_starts_) {
    account.Set(format::AccountItem::kThreadStartsFailed,
                format::Amount::Of(failed_starts_.load(std::memory_order_relaxed)));
  }
  account.Set(format::AccountItem::kOldAfterCollection,
              format::Amount::OfCode(old_after_collection_.load(std::memory_order_relaxed)));
  std::array<uint64_t, format::kAccountItems> amounts{};
  for (const auto& [item, amount] : account.taken()) amounts[static_cast<size_t>(item)] = amount.code();
  record.items = static_cast<uint16_t>(amounts.size());
  record.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  (void)buffer::CommitRecord(ring_, kLane, format::RecordType::kState, record, amounts);
}

// The counter of the old generation is not written at the pauses of a concurrent cycle, but at the next one that
// collects.
void HeapStateRecorder::NoteOldGeneration() {
  const uint64_t concurrent = usage_.ConcurrentPauses();
  if (std::exchange(concurrent_pauses_, concurrent) != concurrent) return;
  const auto collections = meter_.OldCollections();
  const auto used = usage_.OldUsed();
  if (!used || !collections || collections == old_collections_) return;
  old_collections_ = collections;
  old_after_collection_.store(format::Amount::Of(*used).code(), std::memory_order_relaxed);
  const auto largest = usage_.OldMax();
  if (largest && static_cast<double>(*used) > kFull * static_cast<double>(*largest))
    MarkHeapFull(*used, *largest, "the old generation after a collection");
}

void HeapStateRecorder::MarkHeapFull(uint64_t used, uint64_t largest, std::string_view why, bool anyway) {
  constexpr uint64_t kPauseNs = 600'000'000'000;
  const uint64_t now_ns = MonotonicNs();
  uint64_t before_ns = marked_ns_.load(std::memory_order_relaxed);
  if (!anyway && before_ns != 0 && now_ns < before_ns + kPauseNs) return;
  if (!marked_ns_.compare_exchange_strong(before_ns, now_ns, std::memory_order_relaxed)) return;
  const std::string_view text = why.substr(0, format::kMaxEventTextBytes);
  format::EventRecord record{};
  record.monotonic_ns = now_ns;
  record.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  record.used = used;
  record.committed = largest;
  record.kind = static_cast<uint32_t>(format::ProcessStateKind::kHeapFull);
  record.text_bytes = static_cast<uint32_t>(text.size());
  (void)buffer::CommitRecord(ring_, kLane, format::RecordType::kEvent, record, text);
}

void HeapStateRecorder::OnGcEnd() {
  NoteOldGeneration();
  paused_in_.store(meter_.Collections(), std::memory_order_release);
  pauses_.fetch_add(1, std::memory_order_relaxed);
  if (gc_begin_ns_ == 0) return;  // the collection began before the recording
  const uint64_t now_ns = MonotonicNs();
  format::StateRecord record{};
  meter_.LastCause(record.cause, sizeof(record.cause));
  record.pauses = 1;
  record.paused_ns = now_ns - gc_begin_ns_;
  gc_begin_ns_ = 0;
  Commit(format::ProcessStateKind::kGcEnd, now_ns, record);
}

std::optional<uint64_t> HeapStateRecorder::OnTick(uint64_t now_ns) {
  if (last_periodic_ns_ != 0 && now_ns < last_periodic_ns_ + kPeriodNs - kEarlyNs) return std::nullopt;
  last_periodic_ns_ = now_ns;
  CommitSnapshot(now_ns);
  return CommitCpu(now_ns);
}

std::optional<uint64_t> HeapStateRecorder::CommitCpu(uint64_t now_ns) {
  const CpuTimes times = cpu_.Read(now_ns);
  if (times.process_ns == 0) return std::nullopt;
  format::StateRecord record{};
  record.monotonic_ns = now_ns;
  record.kind = static_cast<uint16_t>(format::ProcessStateKind::kCpu);
  record.used = times.process_ns;
  record.committed = times.collector_ns;
  Write(record);
  return times.process_ns;
}

}  // namespace heaprec::sources
