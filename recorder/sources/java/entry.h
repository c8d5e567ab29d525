// Where HotSpot enters: what the detours and JVMTI call, and the one source they call it for.
//
// Context:  alloc. With no active source each is one load and a branch.
// The functions are extern "C" with names of their own so that a test build can wrap them
// (tests/e2e/safety/alloc_guard.cc).
#pragma once

#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/native_sample/thread_clocks.h"
#include "recorder/sources/java/exception_source.h"
#include "recorder/sources/java/source.h"

namespace heaprec::sources {

// Null: not recording. A source outlives its time here: a thread may still be inside it
// (recorder/agent/ended_recordings.h). Every hook reads it: what others write lies on other cache lines.
alignas(64) extern std::atomic<Source*> active_source;
// Likewise; null where exceptions are not recorded.
extern std::atomic<ExceptionSource*> active_exceptions;

// One turn of a JVMTI callback, in which its thread may hold a source. Turns are counted. Sequentially consistent, as
// are the stores of null and the look at the counts: whoever finds each count zero after a source was taken away knows
// that later turns do not see it.
class CallbackScope {
 public:
  CallbackScope() : inside_(OfThisThread()) { inside_.fetch_add(1); }
  ~CallbackScope() { inside_.fetch_sub(1); }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  // For the scope only.
  static Source* source() { return active_source.load(); }
  static ExceptionSource* exceptions() { return active_exceptions.load(); }

  // Each count was zero at some moment of the call.
  static bool NobodyIsInside();

 private:
  // Every exception thrown is such a turn: most threads count on a line of their own.
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<uint32_t> inside{0};
  };
  static std::atomic<uint32_t>& OfThisThread();
  static std::array<Stripe, kStripes> stripes_;

  // HotSpot allocates for what a source asks of it.
  const native::ThreadClocks::OwnWork own_work_;
  std::atomic<uint32_t>& inside_;
};

}  // namespace heaprec::sources

extern "C" {
void heaprec_on_refill(void* java_thread, size_t object_bytes);
void heaprec_on_outside(void* java_thread, size_t object_bytes);
// `begins`: before it, else after it.
void heaprec_on_stack_chunk(bool begins);
void heaprec_on_delivered(const heaprec::sources::Delivered* object);
void heaprec_on_exception(const heaprec::sources::ExceptionEvent* thrown);
}
