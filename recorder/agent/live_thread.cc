#include "recorder/agent/live_thread.h"

#include <chrono>
#include <ctime>

#include "recorder/sources/clock.h"
#include "recorder/writer/quiet_thread.h"

namespace heaprec::agent {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::seconds kStopPatience{2};
// A thread that has taken a place follows or gives it up within microseconds, or when it is scheduled again.
constexpr int kMostClears = 50;
constexpr timespec kPause{0, 1'000'000};

}  // namespace

LiveThread::LiveThread(const Jvm& jvm, buffer::Ring& ring, const sources::HeapWatch& pauses, uint32_t bound)
    : jvm_(jvm), places_(bound), watch_(ring, places_, pauses, jvm.heap) {}

LiveThread::~LiveThread() {
  if (started_) pthread_join(thread_, nullptr);
}

format::Result<std::monostate> LiveThread::Start() {
  auto thread = writer::StartQuietThread(
      "heaprec-live", [](void* self) { static_cast<LiveThread*>(self)->Run(); },
      [](void* self) { static_cast<LiveThread*>(self)->Finish(); }, this);
  if (!thread.ok()) return thread.error();
  thread_ = *thread;
  started_ = true;
  return std::monostate{};
}

void LiveThread::Run() {
  bool stops = false;
  while (!stops) {
    const AttachedScope attached(jvm_.vm, "heaprec-live");
    if (attached.jni() == nullptr) {
      stops = SleepOneTick();
      continue;
    }
    while (!SleepOneTick()) watch_.Tick(attached.jni(), sources::MonotonicNs());
    stops = true;
    LeaveNothing(attached.jni());
  }
  Finish();
}

bool LiveThread::SleepOneTick() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kTick, [this] { return stop_requested_; });
}

void LiveThread::LeaveNothing(JNIEnv* jni) {
  watch_.LookNow(jni);
  for (int i = 0; !watch_.Clear(jni) && i < kMostClears; ++i) nanosleep(&kPause, nullptr);
}

void LiveThread::Finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void LiveThread::Stop() {
  std::unique_lock lock(mutex_);
  stop_requested_ = true;
  changed_.notify_all();
  if (started_) (void)changed_.wait_for(lock, kStopPatience, [this] { return finished_; });
}

bool LiveThread::TryJoin() {
  if (started_ && pthread_tryjoin_np(thread_, nullptr) == 0) started_ = false;
  return !started_;
}

}  // namespace heaprec::agent
