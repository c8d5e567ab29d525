// source=jvmti if the JVM's threshold cannot be written: no hooks, no clock. The JVM draws thresholds with the
// interval that the drain sets from the current window. Delivered objects are thinned and weighted by the interval with
// which this thread's threshold was drawn. If a thread's words cannot be read either (ThreadLayout's is_estimated), its
// bytes are estimated from the delivered objects.
//
// Context, Threads, Failure: as Source; the hooks are not called.   Maths: docs/sampler.md#jvmti
#pragma once

#include <atomic>

#include "recorder/sources/java/source.h"

namespace heaprec::sources {

// HotSpot's default sampling interval, which is used until the agent has set its own.
inline constexpr uint32_t kJvmDefaultInterval = 512 * 1024;  // bytes

class JvmtiSource final : public RecordingSource {
 public:
  using RecordingSource::RecordingSource;
  void OnRefill(void*, uint64_t) override {}
  void OnOutside(void*, uint64_t) override {}
  void OnDelivered(const Delivered& object) override;
  void OnThreadStart(void* java_thread) override;

  // Call when the JVM's interval has been set to `interval` (bytes), for the window with that id.
  void SetInForce(uint32_t interval, uint32_t window);

 private:
  throttle::ActiveWindow InForce() const;

  // (interval << 32) | window: one word, so that threads always see a consistent pair.
  std::atomic<uint64_t> in_force_{uint64_t{kJvmDefaultInterval} << 32};
};

}  // namespace heaprec::sources
