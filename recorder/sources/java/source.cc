#include "recorder/sources/java/source.h"

#include <algorithm>
#include <bit>
#include <new>

#include "throttle/random.h"

namespace heaprec::sources {

using format::LossReason;
using throttle::DeliveryDecision;

namespace {

// The uncounted bytes fit into a TLAB, and a TLAB fits into a heap region or a small part of the heap.
constexpr uint64_t kMaxUncounted = 256 << 20;

}  // namespace

void StartPositions::Reserve(size_t threads) {
  constexpr size_t kLeast = 64;
  const size_t capacity = std::bit_ceil(std::max(kLeast, 2 * threads));
  slots_.reset(new (std::nothrow) Position[capacity]);
  capacity_ = slots_ != nullptr ? capacity : 0;
  count_ = 0;
}

void StartPositions::Add(void* java_thread, uint64_t allocated, double e) {
  if (2 * count_ >= capacity_) return;
  ++count_;
  size_t at = throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) & (capacity_ - 1);
  while (slots_[at].java_thread.load(std::memory_order_relaxed) != nullptr) at = (at + 1) & (capacity_ - 1);
  slots_[at].allocated = allocated;
  slots_[at].e = e;
  slots_[at].java_thread.store(java_thread, std::memory_order_relaxed);
}

void StartPositions::Seal(throttle::ActiveWindow with, bool complete) {
  armed_with_ = with;
  complete_ = complete && slots_ != nullptr;
}

const StartPositions::Position* StartPositions::Take(const void* java_thread) {
  if (capacity_ == 0) return nullptr;
  size_t at = throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) & (capacity_ - 1);
  for (;; at = (at + 1) & (capacity_ - 1)) {
    Position& slot = slots_[at];
    const void* const owner = slot.java_thread.load(std::memory_order_relaxed);
    if (owner == nullptr) return nullptr;
    if (owner == java_thread) return slot.taken.exchange(true, std::memory_order_relaxed) ? nullptr : &slot;
  }
}

void RecordingSource::StartAtSafepoint(const hotspot::ThreadList& threads) {
  size_t count = 0;
  threads.ForEach([&count](void*) { ++count; });
  starts_.Reserve(count);
  threads.ForEach(
      [this](void* java_thread) { NoteStart(java_thread, parts_.layout.AllocatedBytes(java_thread), /*arm=*/true); });
  starts_.Seal(AtStart(), /*complete=*/true);
}

void RecordingSource::BeginRunning(const std::vector<void*>& threads, void* self) {
  starts_.Reserve(threads.size());
  for (void* const java_thread : threads) {
    const auto allocated = parts_.layout.AllocatedBytesOfOther(java_thread);
    if (allocated) NoteStart(java_thread, *allocated, java_thread == self);
  }
  starts_.Seal(AtStart(), /*complete=*/false);
}

void RecordingSource::NoteStart(void* java_thread, uint64_t allocated, bool arm) {
  throttle::Random random(throttle::Mix64(parts_.seed + reinterpret_cast<uintptr_t>(java_thread)));
  const throttle::ActiveWindow with = AtStart();
  const double e = arm ? random.Exponential() : 0;
  starts_.Add(java_thread, allocated, e);
  if (arm && with.lambda > 0) parts_.layout.ArmAtRest(java_thread, std::min(e, parts_.max_gap) / with.lambda);
}

void RecordingSource::OnThreadEnd(void* java_thread) {
  const uint64_t allocated = parts_.layout.AllocatedBytesInCallback(java_thread);
  // Bytes must be counted, even if the thread was not updated since the recording began.
  ThreadEntry* entry = Entry(java_thread, allocated, 0, kCountOnly);
  if (entry == nullptr) return;
  const throttle::HookDecision last = entry->clock.Finish(allocated);
  CountMissed(last.missed, last.missed_bytes);
}

ThreadEntry* RecordingSource::Entry(void* java_thread, uint64_t allocated, uint64_t size,
                                    throttle::ActiveWindow lambda) {
  ThreadEntry* entry = parts_.threads.Find(java_thread);
  if (entry == nullptr) {
    if (parts_.threads.HasEnded(java_thread)) return nullptr;
    entry = parts_.threads.Acquire(java_thread);
    if (entry == nullptr) {
      parts_.shared_counters.Note(LossReason::kThreadLimit);
      return nullptr;
    }
  }
  if (entry->recording != parts_.recording) {
    entry->pending = Pending::kNothing;
    entry->in_stack_chunk = false;
    StartClock(*entry, java_thread, allocated, size, lambda);
    entry->recording = parts_.recording;  // from now on the drain reads the clock's position
  }
  return entry;
}

void RecordingSource::StartClock(ThreadEntry& entry, void* java_thread, uint64_t allocated, uint64_t size,
                                 throttle::ActiveWindow lambda) {
  // The address of the clock and its position make the seeds of all threads differ, even if they reuse an entry.
  const uint64_t seed =
      throttle::Mix64(parts_.seed ^ entry.clock.bytes() ^ (uint64_t{entry.index} << 40) ^ entry.os_tid);
  entry.clock.SetMaxGap(parts_.max_gap);
  const StartPositions::Position* const start = starts_.Take(java_thread);
  const uint64_t before = allocated - std::min(allocated, size);
  // The thread started after the recording: all its bytes count.
  uint64_t position = starts_.complete() ? 0 : before;
  double e = 0;
  if (start != nullptr && start->allocated <= allocated) {
    position = before;
    if (start->e > 0) {
      position = start->allocated;
      e = start->e;
      lambda = starts_.armed_with();
    } else {
      const uint64_t unsampled = before - std::min(before, start->allocated);
      entry.clock.CountUnsampled(unsampled);
      CountMissed(unsampled != 0 && AtStart().lambda > 0, static_cast<double>(unsampled));
    }
  }
  entry.counted_to.store(position, std::memory_order_relaxed);
  entry.clock.StartAt(position, e, seed, lambda);
}

uint64_t RecordingSource::UncountedBytes() const {
  uint64_t total = 0;
  const auto add = [&](const void* java_thread, uint64_t counted) {
    const auto allocated = parts_.layout.AllocatedBytesOfOther(java_thread);
    // More than a TLAB means that another thread uses the same memory.
    if (allocated && *allocated > counted && *allocated - counted < kMaxUncounted) total += *allocated - counted;
  };
  parts_.threads.ForEachOwned([&](const ThreadEntry& entry) {
    if (entry.recording != parts_.recording) return;
    add(entry.java_thread.load(std::memory_order_relaxed), entry.counted_to.load(std::memory_order_relaxed));
  });
  starts_.ForEachLeft(add);
  return total;
}

void RecordingSource::Settle(const Delivered& object, const DeliveryDecision& decision, format::Kind kind,
                             const ThreadEntry& entry) {
  CountMissed(decision.missed, decision.missed_bytes);
  if (decision.action == DeliveryDecision::Action::kNone) return;
  parts_.shared_counters.Point();
  if (decision.action == DeliveryDecision::Action::kThinned) return parts_.shared_counters.Thinned();
  const bool is_light = decision.action == DeliveryDecision::Action::kLight;
  const Point point{kind,
                    is_light,
                    object.size,
                    kind == format::Kind::kTlab && !is_light ? parts_.layout.TlabSize(object.java_thread) : 0,
                    decision.weight_bytes,
                    {decision.point_weight, decision.effective_bytes, is_light ? 0.0 : 1.0},
                    decision.window};
  const CallbackContext context{object.jvmti,        object.jni,    object.java_thread, object.thread,
                                object.object_class, object.object, entry.os_tid,       entry.index};
  parts_.writer.Commit(context, point);
}

format::Kind RecordingSource::GuessKind(const Delivered& object) const {
  // A local reference is the address of a slot with the oop. Only the address in it is used; the object is not read.
  // ZGC's coloured oops are not inside any TLAB, so the kind is derived from the size.
  const void* oop = *reinterpret_cast<void* const*>(object.object);
  const bool inside = parts_.layout.InTlab(object.java_thread, oop);
  return inside || object.size < parts_.layout.TlabSize(object.java_thread) / 64 ? format::Kind::kTlab
                                                                                 : format::Kind::kOutside;
}

void RecordingSource::CountMissed(bool missed, double bytes) {
  if (!missed) return;
  parts_.shared_counters.Point();
  parts_.shared_counters.Lost(LossReason::kDroppedByJvm, bytes);
}

}  // namespace heaprec::sources
