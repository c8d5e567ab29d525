// Where HotSpot enters: what the detours and JVMTI call, and the one source they call it for.
//
// Context:  alloc. With no active source each is one load and a branch.
// The functions are extern "C" with names of their own so that a test build can wrap them (tests/e2e/alloc_guard.cc).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstddef>

#include "recorder/sources/exception_source.h"
#include "recorder/sources/source.h"

namespace heaprec::sources {

// Null: not recording. A source is never destroyed while the process lives: a thread may still be inside it.
extern std::atomic<Source*> active_source;
// Likewise; null where exceptions are not recorded.
extern std::atomic<ExceptionSource*> active_exceptions;

}  // namespace heaprec::sources

extern "C" {
void heaprec_on_refill(void* java_thread, size_t object_bytes);
void heaprec_on_outside(void* java_thread, size_t object_bytes);
void heaprec_on_delivered(const heaprec::sources::Delivered* object);
void heaprec_on_thrown(const heaprec::sources::ThrownException* thrown);
}
