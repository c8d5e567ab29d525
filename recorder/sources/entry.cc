#include "recorder/sources/entry.h"

namespace heaprec::sources {
std::atomic<Source*> active_source{nullptr};
std::atomic<ExceptionSource*> active_exceptions{nullptr};
std::atomic<uint32_t> callbacks_inside{0};
}  // namespace heaprec::sources

using heaprec::sources::active_source;
using heaprec::sources::CallbackScope;
using heaprec::sources::ExceptionSource;
using heaprec::sources::Source;

// Acquire: sees the source as it was built (pairs with the release where a recording starts).
void heaprec_on_refill(void* java_thread, size_t object_bytes) {
  if (Source* source = active_source.load(std::memory_order_acquire)) source->OnRefill(java_thread, object_bytes);
}

void heaprec_on_outside(void* java_thread, size_t object_bytes) {
  if (Source* source = active_source.load(std::memory_order_acquire)) source->OnOutside(java_thread, object_bytes);
}

void heaprec_on_delivered(const heaprec::sources::Delivered* object) {
  const CallbackScope inside;
  if (Source* source = CallbackScope::source()) source->OnDelivered(*object);
}

void heaprec_on_thrown(const heaprec::sources::ThrownException* thrown) {
  const CallbackScope inside;
  if (ExceptionSource* source = CallbackScope::exceptions()) source->OnThrown(*thrown);
}
