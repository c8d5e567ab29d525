#include "recorder/sources/state/heap_state_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "recorder/buffer/lane_lease.h"
#include "recorder/sources/clock.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kPeriodNs = 1'000'000'000;
// Ticks come every 20 to 100 ms: without this every period would be late by up to one.
constexpr uint64_t kEarlyNs = 50'000'000;
// Those of the JVM's own thread, and of the drain, begin to look for a lane here: away from where threads begin.
constexpr uint32_t kLane = 0;

// 0: not known. The second number of statm, in pages.
uint64_t ResidentBytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  ssize_t got = 0;
  do {
    got = read(file, text, sizeof(text));
  } while (got < 0 && errno == EINTR);
  close(file);
  if (got <= 0) return 0;
  const char* const end = text + got;
  const char* const space = std::find(static_cast<const char*>(text), end, ' ');
  uint64_t pages = 0;
  if (space == end || std::from_chars(space + 1, end, pages).ec != std::errc()) return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::atomic<HeapStateRecorder*> active_heap_watch{nullptr};

HeapStateRecorder::HeapStateRecorder(buffer::Ring& ring, const hotspot::HeapMeter& meter)
    : ring_(ring), meter_(meter) {}

void HeapStateRecorder::Commit(format::ProcessStateKind kind, uint64_t now_ns, format::StateRecord record) {
  record.monotonic_ns = now_ns;
  record.kind = static_cast<uint32_t>(kind);
  record.used = meter_.Used();
  record.committed = meter_.Committed();
  record.collections = static_cast<uint32_t>(meter_.Collections());
  const auto old_collections = meter_.OldCollections();
  record.old_collections = old_collections ? static_cast<uint32_t>(*old_collections + 1) : 0;
  Write(record);
}

void HeapStateRecorder::CommitMemory(uint64_t time_ns, const Memory& memory) {
  format::StateRecord record{};
  record.monotonic_ns = time_ns;
  record.kind = static_cast<uint32_t>(format::ProcessStateKind::kMemory);
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

void HeapStateRecorder::OnGcEnd() {
  paused_in_.store(meter_.Collections(), std::memory_order_release);
  pauses_.fetch_add(1, std::memory_order_relaxed);
  if (gc_begin_ns_ == 0) return;  // it began before the recording
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
  format::StateRecord record{};
  record.threads = meter_.LiveThreads();
  record.rss = ResidentBytes();
  Commit(format::ProcessStateKind::kSnapshot, now_ns, record);
  return CommitCpu(now_ns);
}

std::optional<uint64_t> HeapStateRecorder::CommitCpu(uint64_t now_ns) {
  const CpuTimes times = cpu_.Read(now_ns);
  if (times.process_ns == 0) return std::nullopt;
  format::StateRecord record{};
  record.monotonic_ns = now_ns;
  record.kind = static_cast<uint32_t>(format::ProcessStateKind::kCpu);
  record.used = times.process_ns;
  record.committed = times.collector_ns;
  Write(record);
  return times.process_ns;
}

}  // namespace heaprec::sources
