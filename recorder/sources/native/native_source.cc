#include "recorder/sources/native/native_source.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/clock.h"
#include "recorder/buffer/lane_lease.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

using buffer::CopyFixed;
using buffer::LaneLease;

// No thread allocates as much; as a double it is exact.
constexpr double kFarAway = 0x1p62;

}  // namespace

NativeSource::NativeSource(WindowPublisher& board, buffer::SharedCounters& shared_counters, buffer::Ring& ring,
                           uint32_t recording, uint64_t seed, double max_gap, JavaFrames* java)
    : board_(board),
      shared_counters_(shared_counters),
      ring_(ring),
      java_(java),
      recording_(recording),
      seed_(seed),
      max_gap_(max_gap),
      next_id_(format::FirstIdOf(format::Stream::kNative)),
      rules_(NewCfiCache()) {}

void NativeSource::OnDue(native::ThreadClock* clock, const native::Allocation& allocation) {
  // Before the block changes any counter: docs/sampler.md#windows.
  const throttle::ActiveWindow now = board_.Read();
  const uint64_t bytes = clock->bytes.load(std::memory_order_relaxed);
  Begin(clock, allocation.size, now);
  const throttle::DeliveryDecision decision = clock->points.OnDelivered(bytes, allocation.size, now);
  clock->due.store(bytes + static_cast<uint64_t>(std::min(decision.gap, kFarAway)));
  if (decision.action == throttle::DeliveryDecision::Action::kNone) return;
  if (decision.action == throttle::DeliveryDecision::Action::kKept) return Keep(*clock, allocation, decision);
  shared_counters_.Point();
  shared_counters_.Thinned();
}

// If the thread is new, or new in this recording, this block is the first that counts.
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
  // Release: a thread that sees this sees those (pairs with the acquire in ThreadClocks::TotalOf).
  clock->recording.store(recording_, std::memory_order_release);
}

void NativeSource::Keep(const native::ThreadClock& clock, const native::Allocation& allocation,
                        const throttle::DeliveryDecision& decision) {
  NativePoint point;
  point.time_ns = MonotonicNs();
  const auto window = board_.OnPoint(
      {.weight = decision.weight_bytes, .effective = decision.effective_bytes, .count = 1}, point.time_ns);
  // Without it the window's samples still carry their weights.
  if (window) (void)buffer::CommitRecord(ring_, clock.index, format::RecordType::kWindow, RecordOf(*window));
  point.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  point.size = allocation.size;
  point.weight = decision.weight_bytes;
  point.window = decision.window;
  point.os_tid = clock.os_tid;
  point.function = allocation.function;
  prctl(PR_GET_NAME, point.thread_name);
  point.native_frames = native::Unwind(rules_.get(), allocation.caller, point.native);
  if (java_ != nullptr) java_->Take(&point);
  Commit(allocation.block, clock.index, point);
}

// Once the point is in a lane, the drain counts it: so after a kill no point is counted without being there.
void NativeSource::Commit(const void* block, uint32_t lane, const NativePoint& point) {
  const auto pcs = std::as_bytes(std::span(point.native).first(point.native_frames));
  const auto java = std::as_bytes(std::span(point.java).first(point.java_frames));
  const size_t bytes = sizeof(format::NativePointRecord) + pcs.size() + java.size();
  LaneLease lease(ring_, lane, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const record = lease.ok() ? lease.Reserve(format::RecordType::kNativePoint, bytes) : nullptr;
  if (record == nullptr) {
    shared_counters_.Point();
    const bool is_busy = !lease.ok() && lease.found_busy_only();
    return shared_counters_.Lost(is_busy ? format::LossReason::kLanesBusy : format::LossReason::kRingFull,
                                 point.weight);
  }
  // A block that is still in the table was freed by a call that no hook saw.
  if (const uint16_t stale = native::Blocks().Take(block)) native::Blocks().MarkDead(stale, block, point.time_ns);
  format::NativePointRecord fixed{};
  fixed.monotonic_ns = point.time_ns;
  fixed.id = point.id;
  fixed.size = point.size;
  fixed.weight = point.weight;
  fixed.window = point.window;
  fixed.os_tid = point.os_tid;
  fixed.tracking_index = native::Blocks().Put(block, point.id);
  fixed.function = static_cast<uint16_t>(point.function);
  fixed.native_frames = static_cast<uint16_t>(point.native_frames);
  fixed.java_frames = static_cast<uint16_t>(point.java_frames);
  fixed.is_cut = point.java_is_cut ? 1 : 0;
  std::memcpy(fixed.thread_name, point.thread_name, sizeof fixed.thread_name);
  CopyFixed(record, fixed);
  std::memcpy(record + sizeof fixed, pcs.data(), pcs.size());
  std::memcpy(record + sizeof fixed + pcs.size(), java.data(), java.size());
  lease.Commit();
}

}  // namespace heaprec::sources
