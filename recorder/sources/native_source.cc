#include "recorder/sources/native_source.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cmath>

#include "recorder/sources/clock.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// No thread allocates as much; as a double it is exact.
constexpr double kFarAway = 0x1p62;

}  // namespace

NativeSource::NativeSource(WindowBoard& board, buffer::Ledger& ledger, NativePoints& points, uint32_t recording,
                           uint64_t seed, double reach, JavaFrames* java)
    : board_(board),
      ledger_(ledger),
      points_(points),
      java_(java),
      recording_(recording),
      seed_(seed),
      reach_(reach),
      next_id_(format::FirstIdOf(format::Stream::kNative)),
      rules_(std::make_unique<native::FrameRules>()) {}

void NativeSource::OnDue(native::ThreadClock* clock, const native::Allocation& allocation) {
  // Before the block changes any counter: docs/sampler.md#windows.
  const throttle::LambdaInForce now = board_.Read();
  const uint64_t bytes = clock->bytes.load(std::memory_order_relaxed);
  Begin(clock, allocation.size, now);
  const throttle::Hit hit = clock->points.OnDelivered(bytes, allocation.size, now);
  clock->due.store(bytes + static_cast<uint64_t>(std::min(hit.gap, kFarAway)));
  if (hit.verdict == throttle::Hit::Verdict::kNone) return;
  ledger_.Point();
  if (hit.verdict == throttle::Hit::Verdict::kThinned) return ledger_.Thinned();
  Keep(*clock, allocation, hit);
}

// Of a thread that is new, or new in this recording, the block at hand is the first that counts.
void NativeSource::Begin(native::ThreadClock* clock, uint64_t size, throttle::LambdaInForce now) {
  const bool is_known = clock->recording.load(std::memory_order_relaxed) == recording_;
  if (is_known && clock->points.started()) return;
  const uint64_t before = clock->bytes.load(std::memory_order_relaxed) - size;
  clock->points.SetReach(reach_);
  clock->points.StartAt(before, 0, throttle::Mix64(seed_ ^ before ^ (uint64_t{clock->index} << 40) ^ clock->os_tid),
                        now);
  if (is_known) return;
  clock->bytes_before.store(before, std::memory_order_relaxed);
  clock->calls_before.store(clock->calls.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  // Release: whoever sees this sees those (pairs with the acquire in ThreadClocks::TotalOf).
  clock->recording.store(recording_, std::memory_order_release);
}

void NativeSource::Keep(const native::ThreadClock& clock, const native::Allocation& allocation,
                        const throttle::Hit& hit) {
  const uint64_t now_ns = MonotonicNs();
  const auto window = board_.OnPoint({.weight = hit.weight_bytes, .effective = hit.effective_bytes}, now_ns);
  NativePoint* const point = points_.Take();
  if (point == nullptr) return ledger_.Lost(format::Loss::kRingFull, hit.weight_bytes);
  point->time_ns = now_ns;
  point->id = next_id_.fetch_add(1, std::memory_order_relaxed);
  point->size = allocation.size;
  point->weight = hit.weight_bytes;
  point->window = hit.window;
  point->os_tid = clock.os_tid;
  point->function = allocation.function;
  point->new_window = window;
  // One that is there has been freed where nobody looks.
  if (const uint16_t stale = native::Blocks().Take(allocation.block)) {
    native::Blocks().Bury(stale, allocation.block, now_ns);
  }
  point->place = native::Blocks().Put(allocation.block, point->id);
  prctl(PR_GET_NAME, point->thread_name);
  point->native_frames = native::Unwind(rules_.get(), allocation.caller, point->native);
  point->java_frames = 0;
  point->java_is_cut = false;
  if (java_ != nullptr) java_->Take(point);
  points_.Give(point);
}

}  // namespace heaprec::sources
