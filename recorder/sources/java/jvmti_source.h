// source=jvmti where the JVM's threshold cannot be written: no hooks, no clock. The JVM draws thresholds with the
// interval that the drain sets from the window in force; what it delivers is thinned and weighted with the interval
// under which this thread's threshold was drawn. Where a thread's words cannot be read either (ThreadLayout's
// is_estimated), its bytes are estimated by what was delivered.
//
// Context, Threads, Failure: as Source; the hooks are not called.   Maths: docs/sampler.md#jvmti
#pragma once

#include <atomic>

#include "recorder/sources/java/source.h"

namespace heaprec::sources {

// HotSpot's default sampling interval, in force until ours is set.
inline constexpr uint32_t kJvmDefaultInterval = 512 * 1024;  // bytes

class JvmtiSource final : public RecordingSource {
 public:
  using RecordingSource::RecordingSource;
  void OnRefill(void*, uint64_t) override {}
  void OnOutside(void*, uint64_t) override {}
  void OnDelivered(const Delivered& object) override;
  void OnThreadStart(void* java_thread) override;

  // The drain has made `interval` (bytes) the JVM's, for the window of that id.
  void SetInForce(uint32_t interval, uint32_t window);

 private:
  throttle::ActiveWindow InForce() const;

  // (interval << 32) | window: one word, so that no thread sees the one without the other.
  std::atomic<uint64_t> in_force_{uint64_t{kJvmDefaultInterval} << 32};
};

}  // namespace heaprec::sources
