#include "recorder/sources/entry.h"

namespace heaprec::sources {
std::atomic<Source*> active_source{nullptr};
std::atomic<ExceptionSource*> active_exceptions{nullptr};
}  // namespace heaprec::sources

using heaprec::sources::active_exceptions;
using heaprec::sources::active_source;
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
  if (Source* source = active_source.load(std::memory_order_acquire)) source->OnDelivered(*object);
}

void heaprec_on_thrown(const heaprec::sources::ThrownException* thrown) {
  if (ExceptionSource* source = active_exceptions.load(std::memory_order_acquire)) source->OnThrown(*thrown);
}
