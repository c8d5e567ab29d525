#include "recorder/sources/native/native_stream.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

#include "base/time.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/writer/drain.h"
#include "recorder/writer/signal_masked_thread.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

using buffer::CopyFixed;
using buffer::LaneLease;

// More than a thread can allocate, and exact as a double.
constexpr double kFarAway = 0x1p62;

// At the end, how long to wait for threads that are inside a hook: there they are for microseconds, unless descheduled.
constexpr int kMaxPauses = 50;
constexpr timespec kPause{0, 1'000'000};

std::atomic<bool> is_patching{false};

// No thread waits for this one: it may wait for a library's constructors, and a constructor may end the process.
void PatchInBackground() {
  if (is_patching.exchange(true)) return;
  const auto patch = [](void*) {
    (void)native::PatchLibraries();
    is_patching.store(false);
  };
  const auto thread = writer::StartSignalMaskedThread(
      "heaprec-loader", patch, [](void*) { is_patching.store(false); }, nullptr);
  if (!thread.ok()) return is_patching.store(false);
  pthread_detach(*thread);
}

}  // namespace

NativeSource::NativeSource(WindowPublisher& windows, buffer::SharedCounters& shared_counters, buffer::Ring& ring,
                           uint32_t recording, uint64_t seed, double max_gap, JavaFrames* java)
    : windows_(windows),
      shared_counters_(shared_counters),
      ring_(ring),
      java_(java),
      recording_(recording),
      seed_(seed),
      max_gap_(max_gap),
      next_id_(format::FirstIdOf(format::Stream::kNative)),
      rules_(NewCfiCache()) {}

void NativeSource::OnDue(native::ThreadClock* clock, const native::Allocation& allocation) {
  // Read before the block changes any counter: docs/sampler.md#windows.
  const throttle::ActiveWindow now = windows_.Read();
  const uint64_t bytes = clock->bytes.load(std::memory_order_relaxed);
  Begin(clock, allocation.size, now);
  const throttle::DeliveryDecision decision = clock->points.OnDelivered(bytes, allocation.size, now);
  clock->due.store(bytes + static_cast<uint64_t>(std::min(decision.gap, kFarAway)));
  if (decision.action == throttle::DeliveryDecision::Action::kNone) return;
  if (decision.action == throttle::DeliveryDecision::Action::kKept) return Keep(*clock, allocation, decision);
  shared_counters_.Point();
  shared_counters_.Thinned();
}

// Called for a thread that is new, or new in this recording: this block is the first that counts.
void NativeSource::Begin(native::ThreadClock* clock, uint64_t size, throttle::ActiveWindow now) {
  const bool is_known = clock->recording.load(std::memory_order_relaxed) == recording_;
  if (is_known && clock->points.started()) return;
  const uint64_t before = clock->bytes.load(std::memory_order_relaxed) - size;
  clock->points.SetMaxGap(max_gap_);
  clock->points.StartAt(before, 0, throttle::Mix64(seed_ ^ before ^ (uint64_t{clock->index} << 40) ^ clock->os_tid),
                        now);
  if (is_known) return;
  clock->bytes_before.store(before, std::memory_order_relaxed);
  clock->calls_before.store(clock->calls.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  // Release: a thread that sees this sees the counts (pairs with the acquire in ThreadClocks::TotalOf).
  clock->recording.store(recording_, std::memory_order_release);
}

void NativeSource::Keep(const native::ThreadClock& clock, const native::Allocation& allocation,
                        const throttle::DeliveryDecision& decision) {
  NativePoint point;
  point.monotonic_ns = MonotonicNs();
  const auto window = windows_.OnPoint(
      {.weight = decision.weight_bytes, .effective = decision.effective_bytes, .count = 1}, point.monotonic_ns);
  // If it is lost, the window's samples still have their weights.
  if (window) (void)buffer::CommitRecord(ring_, clock.index, format::RecordType::kWindow, RecordOf(*window));
  point.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  point.size = allocation.size;
  point.weight = decision.weight_bytes;
  point.window = decision.window;
  point.os_tid = clock.os_tid;
  point.function = static_cast<uint16_t>(allocation.function);
  prctl(PR_GET_NAME, point.thread_name);
  point.native_frames = static_cast<uint16_t>(native::Unwind(rules_.get(), allocation.caller, point.native));
  if (java_ != nullptr) java_->Take(&point);
  Commit(allocation.block, clock.index, &point);
}

// Once the point is in a lane, the drain counts it. So after a kill no point is counted without being in the lane.
void NativeSource::Commit(const void* block, uint32_t lane, NativePoint* point) {
  const auto pcs = std::as_bytes(std::span(point->native).first(point->native_frames));
  const auto java = std::as_bytes(std::span(point->java).first(point->java_frames));
  const size_t bytes = sizeof(format::NativePointRecord) + pcs.size() + java.size();
  LaneLease lease(ring_, lane, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const record = lease.ok() ? lease.Reserve(format::RecordType::kNativePoint, bytes) : nullptr;
  if (record == nullptr) {
    shared_counters_.Point();
    const bool is_busy = !lease.ok() && lease.found_busy_only();
    return shared_counters_.Lost(is_busy ? format::LossReason::kLanesBusy : format::LossReason::kRingFull,
                                 point->weight);
  }
  // A block that is still in the table was freed by a call that no hook saw.
  if (const uint16_t stale = native::Blocks().Take(block)) native::Blocks().MarkDead(stale, block, point->monotonic_ns);
  point->tracking_index = native::Blocks().Put(block, point->id);
  CopyFixed<format::NativePointRecord>(record, *point);
  std::memcpy(record + sizeof(format::NativePointRecord), pcs.data(), pcs.size());
  std::memcpy(record + sizeof(format::NativePointRecord) + pcs.size(), java.data(), java.size());
  lease.Commit();
}

NativeStream::NativeStream(buffer::Ring& ring, const Config& config, std::unique_ptr<JavaFrames> java,
                           std::unique_ptr<native::MallocHooks> hooks)
    : shared_counters_(ring.header().CountersOf(format::Stream::kNative)),
      windows_(config.throttle, config.start_ns, format::kNativeWindowBit),
      java_(std::move(java)),
      source_(windows_, shared_counters_, ring, config.recording, format::SeedOf(format::Stream::kNative, config.seed),
              config.max_gap, java_.get()),
      writer_(ring, shared_counters_),
      unseen_allocators_(ring.header().unseen_allocators),
      recording_(config.recording),
      hooks_(std::move(hooks)) {
  writer_.WriteWindow(windows_.first());
  if (config.maps_per_second > 0)
    mappings_.emplace(ring, config.start_ns, config.maps_per_second, writer_, java_.get());
}

// Freeing a block does not depend on collections.
void NativeStream::Connect(writer::DrainCallbacks* callbacks) {
  callbacks->on_native_point = [this](const auto& record, auto pcs, auto java) { writer_.Write(record, pcs, java); };
  const auto never = [](auto...) -> uint64_t { return 0; };
  callbacks->tracked[format::Stream::kNative] = {
      .drop = [](uint16_t index, uint64_t sample) { native::Blocks().Drop(index, sample); },
      .collections_at_birth = never,
      .collections = never};
  callbacks->tracked[format::Stream::kMapping] = {
      .drop = [](uint16_t, uint64_t) {}, .collections_at_birth = never, .collections = never};
}

Status NativeStream::Activate() {
  (void)native::TakeLibraryChanges();  // discards changes from before this recording
  writer_.RefreshLibraries();
  is_active_ = true;
  hooks_->Activate(&source_, mappings_ ? mappings_->mapper() : nullptr);
  return {};
}

void NativeStream::OnTick(uint64_t now_ns) {
  native::ThreadClocks::LeaveOut();
  Refresh();
  TakeIn();
  if (!is_active_) return;
  const native::ThreadClocks::Totals totals = native::ThreadClocks::TotalOf(recording_);
  shared_counters_.SetPopulation(totals.calls, totals.bytes);
  const auto window = windows_.Tick(now_ns, totals.bytes);
  if (window) writer_.WriteWindow(*window);
  if (mappings_) mappings_->OnTick(now_ns);
}

void NativeStream::Refresh() {
  if (!is_active_) return;
  unseen_allocators_.store(native::UnseenAllocators(), std::memory_order_relaxed);
  const native::LibraryChanges changes = native::TakeLibraryChanges();
  if (changes.needs_patching) PatchInBackground();
  if (!changes.patched_or_unloaded) return;
  source_.ForgetLibraries();
  if (mappings_) mappings_->ForgetLibraries();
  writer_.RefreshLibraries();
}

void NativeStream::TakeIn() {
  writer_.WriteRest();
  native::Blocks().TakeDead([this](uint64_t sample, uint64_t freed_ns) { writer_.WriteDeath(sample, freed_ns); });
}

void NativeStream::Stop() {
  if (!is_active_) return;
  Refresh();
  // Read now: until the slots are restored, threads count further bytes that are not sampled.
  const native::ThreadClocks::Totals totals = native::ThreadClocks::TotalOf(recording_);
  is_active_ = false;
  hooks_.reset();
  for (int i = 0; !native::IsQuiet() && i < kMaxPauses; ++i) nanosleep(&kPause, nullptr);
  TakeIn();
  if (mappings_) mappings_->Stop(MonotonicNs());
  shared_counters_.SetPopulation(totals.calls, totals.bytes);
}

}  // namespace heaprec::sources
