#include "recorder/agent/ended_recordings.h"

#include <ctime>
#include <utility>

#include "recorder/agent/recording.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/java/entry.h"

namespace heaprec::agent {
namespace {

// A callback takes microseconds; one that was descheduled is not waited for any longer than this.
constexpr int kMaxPauses = 20;
constexpr timespec kPause{0, 1'000'000};

bool CallbacksHaveLeft() {
  for (int pause = 0; !sources::CallbackScope::NobodyIsInside() || !native::IsQuiet(); ++pause) {
    if (pause == kMaxPauses) return false;
    nanosleep(&kPause, nullptr);
  }
  return true;
}

}  // namespace

// Hooks run in threads that are in the VM, where they cannot stop for a safepoint: after one all have left. Callbacks
// run in native code, where a safepoint does not wait for them: they are counted, as are threads in malloc's hooks.
bool NoThreadInside(jvmtiEnv* jvmti) {
  const arch::GracePeriod safepoint = hotspot::SafepointGrace(jvmti);
  return safepoint.wait(safepoint.context) && CallbacksHaveLeft();
}

EndedRecordings::EndedRecordings() = default;
EndedRecordings::~EndedRecordings() = default;

void EndedRecordings::Add(std::unique_ptr<Recording>&& recording) {
  recordings_.emplace_back();
  recordings_.back() = std::move(recording);
}

std::unique_ptr<Recording> EndedRecordings::TakeLast() {
  std::unique_ptr<Recording> last = std::move(recordings_.back());
  recordings_.pop_back();
  return last;
}

void EndedRecordings::Free(jvmtiEnv* jvmti) {
  if (recordings_.empty() || !NoThreadInside(jvmti)) return;
  std::erase_if(recordings_, [](const std::unique_ptr<Recording>& recording) { return recording->TryJoin(); });
}

}  // namespace heaprec::agent
