#include "recorder/sources/java/entry.h"

#include <algorithm>

#include "recorder/sources/java/thread_table.h"
#include "throttle/random.h"

namespace heaprec::sources {

alignas(64) std::atomic<Source*> active_source{nullptr};
std::atomic<ExceptionSource*> active_exceptions{nullptr};
constinit std::array<CallbackScope::Stripe, CallbackScope::kStripes> CallbackScope::stripes_{};

std::atomic<uint32_t>& CallbackScope::OfThisThread() {
  return stripes_[throttle::Mix64(reinterpret_cast<uintptr_t>(&own_entry)) % kStripes].inside;
}

bool CallbackScope::NobodyIsInside() {
  return std::all_of(stripes_.begin(), stripes_.end(), [](const Stripe& stripe) { return stripe.inside.load() == 0; });
}

}  // namespace heaprec::sources

using heaprec::sources::active_source;
using heaprec::sources::CallbackScope;
using heaprec::sources::ExceptionSource;
using heaprec::sources::Source;

// Acquire: sees the complete source (pairs with the release where a recording starts).
void heaprec_on_refill(void* java_thread, size_t object_bytes) {
  if (Source* source = active_source.load(std::memory_order_acquire)) source->OnRefill(java_thread, object_bytes);
}

void heaprec_on_outside(void* java_thread, size_t object_bytes) {
  if (Source* source = active_source.load(std::memory_order_acquire)) source->OnOutside(java_thread, object_bytes);
}

// The thread may wait for a collection between the two calls, so the second one may find another source, or none.
void heaprec_on_stack_chunk(bool begins) {
  Source* const source = active_source.load(std::memory_order_acquire);
  if (source == nullptr) return;
  if (begins) {
    source->BeginStackChunk();
  } else {
    source->EndStackChunk();
  }
}

void heaprec_on_delivered(const heaprec::sources::Delivered* object) {
  const CallbackScope inside;
  if (Source* source = CallbackScope::source()) source->OnDelivered(*object);
}

void heaprec_on_exception(const heaprec::sources::ExceptionEvent* thrown) {
  const CallbackScope inside;
  if (ExceptionSource* source = CallbackScope::exceptions()) source->OnException(*thrown);
}
