// Entry points for HotSpot: the functions that detours and JVMTI call, and the one source for which they are called.
//
// Context:  alloc. Without an active source each is a load and a branch.
// The functions are extern "C" with unique names so that a test build can wrap them
// (tests/e2e/safety/alloc_guard.cc).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/native_sample/thread_clocks.h"
#include "recorder/sources/java/exception_source.h"
#include "recorder/sources/java/source.h"

namespace heaprec::sources {

// Null: not recording. A source is freed later than it is removed here, because a thread may still be inside it
// (recorder/agent/recording.h). Every hook reads this pointer, so its cache line contains no other written data.
alignas(64) extern std::atomic<Source*> active_source;
// Like active_source; null if exceptions are not recorded.
extern std::atomic<ExceptionSource*> active_exceptions;

// The scope in which a JVMTI callback may use a source. Counts the threads inside. Sequentially consistent, like the
// stores of null and the loads of the counts: if each count was zero after a source was removed, no later callback sees
// that source.
class CallbackScope {
 public:
  CallbackScope() : inside_(OfThisThread()) { inside_.fetch_add(1); }
  ~CallbackScope() { inside_.fetch_sub(1); }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  // Valid only within the scope.
  static Source* source() { return active_source.load(); }
  static ExceptionSource* exceptions() { return active_exceptions.load(); }

  // Returns true if each count was zero at some moment of the call.
  static bool NobodyIsInside();

 private:
  // Every thrown exception enters such a scope, so most threads have a count in a cache line of their own.
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<uint32_t> inside{0};
  };
  static std::atomic<uint32_t>& OfThisThread();
  static std::array<Stripe, kStripes> stripes_;

  // Excludes HotSpot's allocations on behalf of a source.
  const native::ThreadClocks::OwnWork own_work_;
  std::atomic<uint32_t>& inside_;
};

}  // namespace heaprec::sources

extern "C" {
void heaprec_on_refill(void* java_thread, size_t object_bytes);
void heaprec_on_outside(void* java_thread, size_t object_bytes);
// `begins`: true before the allocation, false after it.
void heaprec_on_stack_chunk(bool begins);
void heaprec_on_delivered(const heaprec::sources::Delivered* object);
void heaprec_on_exception(const heaprec::sources::ExceptionEvent* thrown);
}
