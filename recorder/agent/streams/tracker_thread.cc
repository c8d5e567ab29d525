#include "recorder/agent/streams/tracker_thread.h"

#include <chrono>
#include <ctime>

#include "recorder/sources/clock.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::milliseconds kTick{50};
// A thread that has taken a place follows or gives it up within microseconds, or when it is scheduled again.
constexpr int kMostClears = 50;
constexpr timespec kPause{0, 1'000'000};

}  // namespace

LiveThread::LiveThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapWatch& pauses, uint32_t bound)
    : jvm_(jvm),
      places_(bound),
      watch_(ring, places_, pauses, jvm.heap),
      thread_("heaprec-live", [this] { Follow(); }) {}

void LiveThread::Follow() {
  for (;;) {
    const AttachedScope attached(jvm_.vm, "heaprec-live");
    if (attached.jni() == nullptr) {
      if (thread_.Rest(kTick)) return;
      continue;
    }
    while (!thread_.Rest(kTick)) watch_.Tick(attached.jni(), sources::MonotonicNs());
    return LeaveNothing(attached.jni());
  }
}

void LiveThread::LeaveNothing(JNIEnv* jni) {
  watch_.LookNow(jni);
  for (int i = 0; !watch_.Clear(jni) && i < kMostClears; ++i) nanosleep(&kPause, nullptr);
}

}  // namespace heaprec::agent
