#include "recorder/sources/source.h"

namespace heaprec::sources {

using format::Loss;
using throttle::Hit;

namespace {
// A remainder fits into a TLAB, and a TLAB into a heap region or a small part of the heap.
constexpr uint64_t kMostUncounted = 256 << 20;
}  // namespace

void RecordingSource::OnThreadEnd(void* java_thread) {
  ThreadEntry* entry = parts_.threads.Find(java_thread);
  if (entry != nullptr && entry->recording == parts_.recording) {
    entry->clock.Finish(parts_.layout.AllocatedBytes(java_thread));
  }
}

ThreadEntry* RecordingSource::Entry(void* java_thread, uint64_t allocated, uint64_t size,
                                    throttle::LambdaInForce lambda) {
  ThreadEntry* entry = parts_.threads.Find(java_thread);
  if (entry == nullptr) {
    if (parts_.threads.HasEnded(java_thread)) return nullptr;
    entry = parts_.threads.Acquire(java_thread);
    if (entry == nullptr) {
      parts_.ledger.Note(Loss::kNoClock);
      return nullptr;
    }
  }
  if (entry->recording != parts_.recording) {
    entry->recording = parts_.recording;
    entry->pending = Pending::kNothing;
    // The address of the clock and its position make the seeds of all threads differ, also of those that reuse an
    // entry.
    const uint64_t seed =
        throttle::Mix64(parts_.seed ^ entry->clock.bytes() ^ (uint64_t{entry->index} << 40) ^ entry->os_tid);
    entry->clock.Start(allocated, size, seed, lambda);
  }
  return entry;
}

uint64_t RecordingSource::UncountedBytes() const {
  uint64_t total = 0;
  parts_.threads.ForEachOwned([&](const ThreadEntry& entry) {
    if (entry.recording != parts_.recording) return;
    void* const java_thread = entry.java_thread.load(std::memory_order_relaxed);
    const uint64_t counted = entry.counted_to.load(std::memory_order_relaxed);
    const auto allocated = parts_.layout.AllocatedBytesOfOther(java_thread);
    // Past a TLAB's size it is not a remainder but another thread in the same memory.
    if (allocated && *allocated > counted && *allocated - counted < kMostUncounted) total += *allocated - counted;
  });
  return total;
}

void RecordingSource::Settle(const Delivered& object, const Hit& hit, format::Kind kind, const ThreadEntry& entry) {
  CountMissed(hit.missed, hit.missed_bytes);
  if (hit.verdict == Hit::Verdict::kNone) return;
  parts_.ledger.Point();
  if (hit.verdict == Hit::Verdict::kThinned) return parts_.ledger.Thinned();
  const Point point{kind,
                    object.size,
                    kind == format::Kind::kTlab ? parts_.layout.TlabSize(object.java_thread) : 0,
                    hit.weight_bytes,
                    TallyOf(hit),
                    hit.window};
  const CallbackContext context{object.jvmti,        object.jni,   object.thread,
                                object.object_class, entry.os_tid, entry.index};
  parts_.capture.Commit(context, point);
}

throttle::Random RecordingSource::DrawFor(const ThreadEntry& entry) const {
  return throttle::Random(throttle::Mix64(parts_.seed ^ entry.clock.candidates() ^ (uint64_t{entry.index} << 32)));
}

void RecordingSource::CountMissed(bool missed, double bytes) {
  if (!missed) return;
  parts_.ledger.Point();
  parts_.ledger.Lost(Loss::kMissed, bytes);
}

}  // namespace heaprec::sources
