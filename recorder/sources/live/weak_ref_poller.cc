#include "recorder/sources/live/weak_ref_poller.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "recorder/buffer/lane_lease.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kMinBetweenNs = 100 * kMs, kMaxBetweenNs = 2'000 * kMs;
// Looks take at most 1/400 of a core, unless that meant more than kMaxBetweenNs between two of them.
constexpr uint64_t kShareOfLooks = 400;
constexpr uint32_t kLane = 0;

}  // namespace

void WeakRefPoller::Tick(JNIEnv* jni, uint64_t now_ns) {
  if (IsTime(now_ns)) {
    PollNow(jni);
  } else {
    Poll(jni, /*checks=*/false);
  }
}

bool WeakRefPoller::IsTime(uint64_t now_ns) const {
  if (now_ns < not_before_ns_) return false;
  return pauses_.pauses() != seen_pauses_ || now_ns >= last_look_ns_ + kMaxBetweenNs;
}

void WeakRefPoller::PollNow(JNIEnv* jni) {
  // CPU time: a look that waits for a safepoint or for a core costs nothing, and must not put off the next one. Objects
  // that died meanwhile would count as alive.
  const uint64_t begin_ns = ThreadCpuNs();
  seen_pauses_ = pauses_.pauses();
  Poll(jni, /*checks=*/true);
  last_look_ns_ = MonotonicNs();
  not_before_ns_ = last_look_ns_ + std::clamp(kShareOfLooks * (ThreadCpuNs() - begin_ns), kMinBetweenNs, kMaxBetweenNs);
}

void WeakRefPoller::Poll(JNIEnv* jni, bool checks) {
  // Before the first object is looked at: who is alive has survived those at least.
  const uint64_t collections = meter_.CollectionsEnded(pauses_.paused_in());
  for (uint32_t place = 1; place <= places_.count(); ++place) {
    const auto number = static_cast<uint16_t>(place);
    const WeakRefTable::View view = places_.Look(number);
    if (view.state == WeakRefTable::State::kDropped) Free(jni, number, view.reference);
    if (checks && view.state == WeakRefTable::State::kTracked) LookAt(jni, number, view);
  }
  if (checks) last_seen_alive_ = collections;
}

// Room first: once the entry is dead, its death must be reported.
void WeakRefPoller::LookAt(JNIEnv* jni, uint16_t place, const WeakRefTable::View& view) {
  if (jni->IsSameObject(view.reference, nullptr) == JNI_FALSE) return;
  format::DeathRecord record{};
  buffer::LaneLease lease(ring_, kLane, sizeof(record));
  if (!lease.ok()) return;
  std::byte* const into = lease.Reserve(format::RecordType::kDeath, sizeof(record));
  if (into == nullptr || !places_.MarkDead(place, view.sample)) return;
  record.monotonic_ns = MonotonicNs();  // under the lease: a lane is in order of time
  record.sample = view.sample;
  record.collections = std::max(view.collections, last_seen_alive_);
  constexpr size_t kHeader = sizeof(format::RecordHeader);
  std::memcpy(into + kHeader, reinterpret_cast<const std::byte*>(&record) + kHeader, sizeof(record) - kHeader);
  lease.Commit();
  Free(jni, place, view.reference);
}

void WeakRefPoller::Free(JNIEnv* jni, uint16_t place, jweak reference) {
  if (reference != nullptr) jni->DeleteWeakGlobalRef(reference);
  places_.Free(place);
}

bool WeakRefPoller::Clear(JNIEnv* jni) {
  bool is_clear = true;
  for (uint32_t place = 1; place <= places_.count(); ++place) {
    const auto number = static_cast<uint16_t>(place);
    const WeakRefTable::View view = places_.Look(number);
    if (view.state == WeakRefTable::State::kTracked) (void)places_.Drop(number, view.sample);
    if (view.state == WeakRefTable::State::kTaken) is_clear = false;
    if (view.state == WeakRefTable::State::kTracked || view.state == WeakRefTable::State::kDropped) {
      Free(jni, number, view.reference);
    }
  }
  return is_clear;
}

}  // namespace heaprec::sources
