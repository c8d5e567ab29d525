#include "recorder/sources/native/mapping_stream.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "format/model/stream.h"

namespace heaprec::sources {
namespace {

using format::LossReason;
using native::MappingType;

constexpr int kCountBits = 32;
// Space for the calls between two ticks: 160,000 munmaps in a second.
constexpr uint32_t kMaxPoints = 1 << 14;
constexpr uint32_t kWindow = format::kMappingWindowBit + 1;
// A mapping has at least a page, so it is always sampled and represents itself: 1 - exp(-4096) is 1.
constexpr double kLambda = 1;

std::string_view ClassOf(const MappingTable::New& made) {
  constexpr std::array<std::string_view, 4> kAlone{"reserve", "mmap", "mmap file", "mmap shared"},
      kInReserve{"reserve", "commit", "commit file", "commit shared"};
  return (made.is_in_reserve ? kInReserve : kAlone)[static_cast<size_t>(made.sort)];
}

// Returns the kernel's list of the process' mappings; empty: not available. Reads that of this thread, because a main
// thread that has ended by pthread_exit has none.
std::vector<native::Mapping> MapsOfProcess() {
  std::vector<native::Mapping> maps;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/thread-self/maps", "re"), std::fclose);
  if (file == nullptr) return maps;
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), file.get()) != nullptr) {
    unsigned long begin = 0, end = 0;                              // NOLINT(google-runtime-int): as sscanf has it
    if (std::sscanf(line.data(), "%lx-%lx", &begin, &end) == 2) {  // NOLINT(cert-err34-c): the kernel's own numbers
      maps.push_back({begin, end, MappingType::kPrivate, false});
    }
  }
  return maps;
}

}  // namespace

bool MappingSource::MaySpend(uint64_t now_ns) {
  const uint64_t second = now_ns / MappingStream::kIntervalNs << kCountBits;
  uint64_t spent = spent_.load(std::memory_order_relaxed);
  uint64_t after = 0;
  do {
    const uint64_t in_second = (spent >> kCountBits << kCountBits) == second ? spent - second : 0;
    if (in_second >= most_per_second_) return false;
    after = second + in_second + 1;
  } while (!spent_.compare_exchange_weak(spent, after, std::memory_order_relaxed));
  return true;
}

// Points are reused, so this sets all fields that are read.
MappingPoint* MappingSource::Fill(MappingPoint* point, MappingPoint::What what, const native::Mapping& mapping) const {
  point->monotonic_ns = MonotonicNs();
  point->what = what;
  point->mapping = mapping;
  point->is_lost = false;
  point->moving = 0;
  point->native_frames = point->java_frames = 0;
  point->is_cut = 0;
  return point;
}

void MappingSource::Describe(const native::Registers& caller, MappingPoint* point) {
  point->is_lost = !MaySpend(point->monotonic_ns);
  if (point->is_lost) return;
  point->os_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, point->thread_name);
  point->native_frames = static_cast<uint16_t>(native::Unwind(rules_.get(), caller, point->native));
  if (java_ != nullptr) java_->Take(point);
}

void MappingSource::OnMapped(const native::Mapping& mapping, const native::Registers& caller) {
  MappingPoint* const point = points_.Take();
  if (point == nullptr) {
    const uint64_t bytes = mapping.end - mapping.begin;
    shared_counters_.Point();
    shared_counters_.Lost(format::LossReason::kRingFull, static_cast<double>(bytes));
    missed_.fetch_add(1, std::memory_order_relaxed);
    missed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return is_incomplete_.store(true, std::memory_order_relaxed);
  }
  calls_.noted.fetch_add(1, std::memory_order_relaxed);
  calls_.noted_bytes.fetch_add(mapping.end - mapping.begin, std::memory_order_relaxed);
  Describe(caller, Fill(point, MappingPoint::What::kMap, mapping));
  points_.Submit(point);
}

void MappingSource::OnUnmapping(uintptr_t begin, uintptr_t end) {
  MappingPoint* const point = points_.Take();
  if (point == nullptr) return is_incomplete_.store(true, std::memory_order_relaxed);
  points_.Submit(Fill(point, MappingPoint::What::kUnmap, {begin, end, native::MappingType::kReserve, false}));
}

// Takes both points together: a detached range must be attached again.
uint32_t MappingSource::OnMoving(uintptr_t begin, uintptr_t end) {
  MappingPoint* const detach = points_.Take();
  MappingPoint* const attach = detach != nullptr ? points_.Take() : nullptr;
  if (attach == nullptr) {
    if (detach != nullptr) points_.Discard(detach);
    is_incomplete_.store(true, std::memory_order_relaxed);
    return kNoRoom;
  }
  const uint32_t moving = points_.NumberOf(attach);
  Fill(detach, MappingPoint::What::kDetach, {begin, end, native::MappingType::kReserve, false})->moving = moving;
  points_.Submit(detach);
  return moving;
}

void MappingSource::OnMoved(uint32_t moving, uintptr_t begin, uintptr_t end, const native::Registers& caller) {
  if (moving == kNoRoom) return;
  MappingPoint* const attach = points_.At(moving);
  Describe(caller, Fill(attach, MappingPoint::What::kAttach, {begin, end, native::MappingType::kReserve, false}));
  attach->moving = moving;
  points_.Submit(attach);
}

MappingSource::Unreported MappingSource::TakeUnreported() {
  return {missed_.exchange(0, std::memory_order_relaxed), missed_bytes_.exchange(0, std::memory_order_relaxed),
          is_incomplete_.exchange(false, std::memory_order_relaxed)};
}

MappingStream::MappingStream(buffer::Ring& ring, uint64_t start_ns, uint32_t per_second, NativeSampleWriter& writer,
                             JavaFrames* java)
    : shared_counters_(ring.header().CountersOf(format::Stream::kMapping)),
      start_ns_(start_ns),
      writer_(writer),
      points_(kMaxPoints),
      mapping_calls_(ring.header().mapping_calls),
      source_(shared_counters_, mapping_calls_, points_, kOversampling * per_second, java),
      next_id_(format::FirstIdOf(format::Stream::kMapping)) {
  writer_.WriteWindow({.id = kWindow, .start_ns = start_ns, .lambda = {kLambda, kLambda}});
}

void MappingStream::OnTick(uint64_t now_ns) {
  const uint64_t interval = (now_ns - start_ns_) / kIntervalNs;
  const bool has_ended = std::exchange(interval_, interval) != interval;
  TakeIn(has_ended ? start_ns_ + interval * kIntervalNs : UINT64_MAX, now_ns);
}

void MappingStream::Stop(uint64_t now_ns) {
  TakeIn(UINT64_MAX, now_ns);
  if (!kernel_mappings_.empty()) TakeIn(UINT64_MAX, now_ns);
}

void MappingStream::TakeIn(uint64_t until_ns, uint64_t now_ns) {
  while (!late_.empty() && late_.front().monotonic_ns < until_ns) {
    Apply(late_.front());
    late_.pop_front();
  }
  // Processes them in the order of the calls, even if their times differ.
  points_.TakeAll([&](const MappingPoint& point) {
    if (late_.empty() && point.monotonic_ns < until_ns) {
      Apply(point);
    } else {
      late_.push_back(point);
    }
  });
  const MappingSource::Unreported unreported = source_.TakeUnreported();
  calls_ += unreported.mappings;
  bytes_ += unreported.bytes;
  if (!kernel_mappings_.empty() && late_.empty()) ranges_.KeepOnly(std::exchange(kernel_mappings_, {}), now_ns);
  if (unreported.is_incomplete) {
    ranges_.BeginAge();
    kernel_mappings_ = MapsOfProcess();
  }
  for (const MappingTable::Change& change : ranges_.TakeChanges()) {
    writer_.WriteDeath(change.sample, change.time_ns, change.left);
  }
  shared_counters_.SetPopulation(calls_, bytes_);
}

void MappingStream::Apply(const MappingPoint& point) {
  const native::Mapping& mapping = point.mapping;
  const uint64_t sample = point.is_lost ? 0 : next_id_;
  switch (point.what) {
    case MappingPoint::What::kMap:
      Add(point, ranges_.Map(sample, mapping, point.monotonic_ns));
      // Written after its sample: a kill loses calls that were noted but not processed.
      mapping_calls_.taken.fetch_add(1, std::memory_order_relaxed);
      mapping_calls_.taken_bytes.fetch_add(mapping.end - mapping.begin, std::memory_order_relaxed);
      return;
    case MappingPoint::What::kUnmap:
      return ranges_.Unmap(mapping.begin, mapping.end, point.monotonic_ns);
    case MappingPoint::What::kDetach:
      return ranges_.Detach(point.moving, mapping.begin, mapping.end);
    case MappingPoint::What::kAttach:
      return Add(point, ranges_.Attach(point.moving, sample, mapping.begin, mapping.end, point.monotonic_ns));
  }
}

// All new bytes of the call become a sample; there is none if they were reserved already.
void MappingStream::Add(const MappingPoint& point, const MappingTable::New& made) {
  if (made.bytes == 0) return;
  ++calls_;
  bytes_ += made.bytes;
  const auto weight = static_cast<double>(made.bytes);
  if (point.is_lost) {
    shared_counters_.Point();
    return shared_counters_.Lost(LossReason::kRingFull, weight);
  }
  NativePoint sample = point;
  sample.id = next_id_++;
  sample.size = made.bytes;
  sample.weight = weight;
  sample.window = kWindow;
  sample.tracking_index = 1;  // tracked; MappingTable has its ranges
  (void)writer_.Write(sample, {format::Kind::kMapping, ClassOf(made)}, shared_counters_);
}

}  // namespace heaprec::sources
