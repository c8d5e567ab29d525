#include "recorder/sources/live/weak_ref_poller.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/time.h"
#include "recorder/buffer/lane_lease.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kMinBetweenNs = 100 * kMs, kMaxBetweenNs = 2'000 * kMs;
// Polls take at most 1/400 of a core, unless the time between two polls would exceed kMaxBetweenNs.
constexpr uint64_t kShareOfPolls = 400;
constexpr uint32_t kLane = 0;

constexpr std::chrono::milliseconds kTick{50};
// A thread that has taken an entry tracks its object or cancels within microseconds, unless it is descheduled.
constexpr int kMaxClears = 50;
constexpr timespec kPause{0, 1'000'000};

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
  return pauses_.pauses() != seen_pauses_ || now_ns >= last_poll_ns_ + kMaxBetweenNs;
}

void WeakRefPoller::PollNow(JNIEnv* jni) {
  // Measured in CPU time: a poll that waits for a safepoint or a core costs nothing and must not delay the next one.
  // Otherwise objects that died meanwhile would count as live.
  const uint64_t begin_ns = ThreadCpuNs();
  seen_pauses_ = pauses_.pauses();
  Poll(jni, /*checks=*/true);
  last_poll_ns_ = MonotonicNs();
  not_before_ns_ = last_poll_ns_ + std::clamp(kShareOfPolls * (ThreadCpuNs() - begin_ns), kMinBetweenNs, kMaxBetweenNs);
}

void WeakRefPoller::Poll(JNIEnv* jni, bool checks) {
  // Read before the first object is checked: a live object has survived at least these collections.
  const uint64_t collections = meter_.CollectionsEnded(pauses_.paused_in());
  for (uint32_t index = 1; index <= table_.count(); ++index) {
    const auto number = static_cast<uint16_t>(index);
    const WeakRefTable::View view = table_.Look(number);
    if (view.state == WeakRefTable::State::kDropped) Free(jni, number, view.reference);
    if (checks && view.state == WeakRefTable::State::kTracked) Check(jni, number, view);
  }
  if (checks) last_seen_alive_ = collections;
}

// Reserves space first: once the entry is dead, its death must be reported.
void WeakRefPoller::Check(JNIEnv* jni, uint16_t index, const WeakRefTable::View& view) {
  if (jni->IsSameObject(view.reference, nullptr) == JNI_FALSE) return;
  format::DeathRecord record{};
  buffer::LaneLease lease(ring_, kLane, sizeof(record));
  if (!lease.ok()) return;
  std::byte* const into = lease.Reserve(format::RecordType::kDeath, sizeof(record));
  if (into == nullptr || !table_.MarkDead(index, view.sample)) return;
  record.monotonic_ns = MonotonicNs();  // read under the lease, so that a lane is in order of time
  record.sample = view.sample;
  record.collections = std::max(view.collections, last_seen_alive_);
  buffer::CopyFixed(into, record);
  lease.Commit();
  Free(jni, index, view.reference);
}

void WeakRefPoller::Free(JNIEnv* jni, uint16_t index, jweak reference) {
  const auto lock = table_.KeepReferences();
  if (reference != nullptr) jni->DeleteWeakGlobalRef(reference);
  table_.Free(index);
}

bool WeakRefPoller::Clear(JNIEnv* jni) {
  bool is_clear = true;
  for (uint32_t index = 1; index <= table_.count(); ++index) {
    const auto number = static_cast<uint16_t>(index);
    const WeakRefTable::View view = table_.Look(number);
    if (view.state == WeakRefTable::State::kTracked) (void)table_.Drop(number, view.sample);
    if (view.state == WeakRefTable::State::kTaken) is_clear = false;
    if (view.state == WeakRefTable::State::kTracked || view.state == WeakRefTable::State::kDropped) {
      Free(jni, number, view.reference);
    }
  }
  return is_clear;
}

ObjectTracker::ObjectTracker(JavaVM* vm, const hotspot::HeapMeter& meter, buffer::Ring& ring,
                             const HeapStateRecorder& pauses, uint32_t bound)
    : vm_(vm), meter_(meter), table_(bound), poller_(ring, table_, pauses, meter), thread_("heaprec-live", [this] {
        Track();
      }) {}

void ObjectTracker::Connect(writer::DrainCallbacks* callbacks) {
  callbacks->tracked[format::Stream::kAllocations] = {
      .drop = [this](uint16_t index, uint64_t sample) { (void)table_.Drop(index, sample); },
      .collections_at_birth =
          [this](uint16_t index, uint64_t sample) {
            return table_.CollectionsAtBirth(index, sample, meter_.Collections());
          },
      .collections = [this] { return meter_.Collections(); }};
}

void ObjectTracker::Track() {
  for (;;) {
    const AttachedScope attached(vm_, "heaprec-live");
    if (attached.jni() == nullptr) {
      if (thread_.SleepOrStop(kTick)) return;
      continue;
    }
    while (!thread_.SleepOrStop(kTick)) poller_.Tick(attached.jni(), MonotonicNs());
    poller_.PollNow(attached.jni());
    for (int i = 0; !poller_.Clear(attached.jni()) && i < kMaxClears; ++i) nanosleep(&kPause, nullptr);
    return;
  }
}

}  // namespace heaprec::sources
