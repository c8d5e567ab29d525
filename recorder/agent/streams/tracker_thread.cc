#include "recorder/agent/streams/tracker_thread.h"

#include <chrono>
#include <ctime>

#include "base/clock.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::milliseconds kTick{50};
// A thread that has taken a place follows or gives it up within microseconds, or when it is scheduled again.
constexpr int kMaxClears = 50;
constexpr timespec kPause{0, 1'000'000};

}  // namespace

TrackerThread::TrackerThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapStateRecorder& pauses,
                             uint32_t bound)
    : jvm_(jvm),
      places_(bound),
      watch_(ring, places_, pauses, jvm.heap),
      thread_("heaprec-live", [this] { Follow(); }) {}

void TrackerThread::Follow() {
  for (;;) {
    const AttachedScope attached(jvm_.vm, "heaprec-live");
    if (attached.jni() == nullptr) {
      if (thread_.SleepOrStop(kTick)) return;
      continue;
    }
    while (!thread_.SleepOrStop(kTick)) watch_.Tick(attached.jni(), MonotonicNs());
    return DeleteAllReferences(attached.jni());
  }
}

void TrackerThread::DeleteAllReferences(JNIEnv* jni) {
  watch_.PollNow(jni);
  for (int i = 0; !watch_.Clear(jni) && i < kMaxClears; ++i) nanosleep(&kPause, nullptr);
}

}  // namespace heaprec::agent
