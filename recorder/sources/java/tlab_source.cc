#include "recorder/sources/java/tlab_source.h"

namespace heaprec::sources {

using format::Kind;
using throttle::ActiveWindow;
using throttle::DeliveryDecision;

void TlabSource::OnEvent(void* java_thread, uint64_t size, Pending kind) {
  const ActiveWindow now = parts_.board.Read();
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* entry = Entry(java_thread, allocated, size, kCountOnly);
  if (entry == nullptr) return;
  const uint64_t before = entry->clock.bytes();
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  if (kind == Pending::kOutside) {
    entry->clock.OnOutside(allocated, size, kCountOnly);
  } else {
    entry->clock.OnRefill(allocated, size, kCountOnly);
  }
  throttle::Random random = DrawFor(*entry);
  const DeliveryDecision decision = throttle::DecideEvent(now.lambda, entry->clock.bytes() - before, now, random);
  // An event that was forced and not delivered before the next one never will be.
  CountMissed(entry->pending != Pending::kNothing, entry->event_weight);
  entry->pending = Pending::kNothing;
  if (decision.action != DeliveryDecision::Action::kKept) return parts_.layout.SetUnarmed(java_thread);
  entry->pending = kind;
  entry->event_weight = decision.weight_bytes;
  entry->event_probability = now.lambda;
  entry->event_window = decision.window;
  parts_.layout.Force(java_thread);
}

void TlabSource::OnDelivered(const Delivered& object) {
  ThreadEntry* entry = parts_.threads.Find(object.java_thread);
  const bool ours = entry != nullptr && entry->recording == parts_.recording && entry->pending != Pending::kNothing;
  parts_.layout.SetUnarmed(object.java_thread);
  if (!ours) return;
  DeliveryDecision decision;
  decision.action = DeliveryDecision::Action::kKept;
  decision.weight_bytes = entry->event_weight;
  decision.effective_bytes = 1 / entry->event_probability;  // the unit is the event
  decision.window = entry->event_window;
  const Kind kind = entry->pending == Pending::kOutside ? Kind::kOutside : Kind::kTlab;
  entry->pending = Pending::kNothing;
  Settle(object, decision, kind, *entry);
}

void TlabSource::OnThreadEnd(void* java_thread) {
  ThreadEntry* entry = parts_.threads.Find(java_thread);
  if (entry != nullptr && entry->recording == parts_.recording) {
    CountMissed(entry->pending != Pending::kNothing, entry->event_weight);
    entry->pending = Pending::kNothing;
  }
  RecordingSource::OnThreadEnd(java_thread);
}

}  // namespace heaprec::sources
