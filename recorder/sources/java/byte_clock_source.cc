#include "recorder/sources/java/byte_clock_source.h"

#include <utility>

namespace heaprec::sources {

using format::Kind;
using throttle::ActiveWindow;
using throttle::HookDecision;

// Nearly every hook ends in the first few lines, which make no calls, so that no registers must be saved.
void ByteClockSource::OnRefill(void* java_thread, uint64_t size) {
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* const entry = Started(java_thread);
  double gap = 0;
  if (entry == nullptr || entry->in_stack_chunk || !entry->clock.TrySkipRefill(allocated, parts_.windows.window(), gap))
      [[unlikely]] {
    return Refill(java_thread, size);
  }
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  entry->pending = Pending::kNothing;
  parts_.layout.ArmInHook(java_thread, gap, size, /*outside=*/false);
}

void ByteClockSource::OnOutside(void* java_thread, uint64_t size) {
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* const entry = Started(java_thread);
  double gap = 0;
  if (entry == nullptr || entry->in_stack_chunk ||
      !entry->clock.TrySkipOutside(allocated, size, parts_.windows.window(), gap)) [[unlikely]] {
    return Outside(java_thread, size);
  }
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  entry->pending = Pending::kNothing;
  parts_.layout.ArmInHook(java_thread, gap, size, /*outside=*/true);
}

void ByteClockSource::Refill(void* java_thread, uint64_t size) {
  const ActiveWindow now = parts_.windows.Read();
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* entry = Entry(java_thread, allocated, size, now);
  if (entry == nullptr || entry->in_stack_chunk) return;
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  Apply(java_thread, *entry, entry->clock.OnRefill(allocated, size, now), size, /*outside=*/false);
}

void ByteClockSource::Outside(void* java_thread, uint64_t size) {
  const ActiveWindow now = parts_.windows.Read();
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* entry = Entry(java_thread, allocated, size, now);
  if (entry == nullptr || entry->in_stack_chunk) return;
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  Apply(java_thread, *entry, entry->clock.OnOutside(allocated, size, now), size, /*outside=*/true);
}

void ByteClockSource::BeginStackChunk() {
  ThreadEntry* const entry = CallingThread();
  if (entry == nullptr) return;
  entry->stack_chunk_at = parts_.layout.AllocatedBytes(entry->java_thread.load(std::memory_order_relaxed));
  entry->in_stack_chunk = true;
}

// The threshold may be inside the part of the TLAB that the chunk took, or the JVM has drawn a new one.
void ByteClockSource::EndStackChunk() {
  ThreadEntry* const entry = CallingThread();
  if (entry == nullptr || !std::exchange(entry->in_stack_chunk, false)) return;
  void* const java_thread = entry->java_thread.load(std::memory_order_relaxed);
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  if (allocated <= entry->stack_chunk_at) return;  // the JVM had no memory for it
  const uint64_t bytes = allocated - entry->stack_chunk_at;
  const auto add = [](std::atomic<uint64_t>& sum, uint64_t more) {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  };
  entry->clock.Exclude(bytes);
  add(entry->counted_to, bytes);
  add(entry->stack_chunks, 1);
  add(entry->stack_chunk_bytes, bytes);
  parts_.layout.ArmAtRest(java_thread, entry->clock.GapFrom(allocated));
}

void ByteClockSource::Apply(void* java_thread, ThreadEntry& entry, const HookDecision& decision, uint64_t size,
                            bool outside) {
  CountMissed(decision.missed, decision.missed_bytes);
  if (decision.action == HookDecision::Action::kForce) {
    entry.pending = outside ? Pending::kOutside : Pending::kRefill;
    parts_.layout.Force(java_thread);
  } else {
    entry.pending = Pending::kNothing;
    parts_.layout.ArmInHook(java_thread, decision.gap, size, outside);
  }
}

void ByteClockSource::OnDelivered(const Delivered& object) {
  // Read before the sample changes any counter: docs/sampler.md#windows.
  const ActiveWindow now = parts_.windows.Read();
  const uint64_t allocated = parts_.layout.AllocatedBytesInCallback(object.java_thread);
  ThreadEntry* entry = Entry(object.java_thread, allocated, object.size, now);
  if (entry == nullptr) return;
  parts_.writer.Prefetch(entry->index);
  const Kind kind = KindOf(object, *entry);
  entry->pending = Pending::kNothing;
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  const throttle::DeliveryDecision decision = entry->clock.OnDelivered(allocated, object.size, now);
  parts_.layout.ArmInCallback(object.java_thread, decision.gap, kind == Kind::kOutside);
  Settle(object, decision, kind, *entry);
}

Kind ByteClockSource::KindOf(const Delivered& object, const ThreadEntry& entry) const {
  if (!hooked_) return GuessKind(object);
  return entry.pending == Pending::kOutside ? Kind::kOutside : Kind::kTlab;
}

// Without hooks, nothing else would handle a thread before the JVM delivers one of its objects.
void ByteClockSource::OnThreadStart(void* java_thread) {
  if (hooked_) return;
  const ActiveWindow now = parts_.windows.Read();
  const uint64_t allocated = parts_.layout.AllocatedBytesInCallback(java_thread);
  ThreadEntry* entry = Entry(java_thread, allocated, 0, now);
  if (entry == nullptr) return;
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  parts_.layout.ArmAtRest(java_thread, entry->clock.OnDelivered(allocated, 0, now).gap);
}

}  // namespace heaprec::sources
