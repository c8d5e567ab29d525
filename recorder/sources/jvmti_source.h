// source=jvmti: no hooks. The JVM draws thresholds with the interval that the drain sets from the window in force; what
// it delivers is thinned and weighted with the interval under which this thread's threshold was drawn.
//
// Context, Threads, Failure: as Source; the hooks are not called.   Maths: docs/sampler.md#jvmti
#pragma once

#include <atomic>

#include "recorder/sources/source.h"

namespace heaprec::sources {

// HotSpot's default sampling interval: thresholds drawn before ours was set have this mean.
inline constexpr double kJvmDefaultInterval = 512.0 * 1024;

class JvmtiSource final : public RecordingSource {
 public:
  using RecordingSource::RecordingSource;
  void OnRefill(void*, uint64_t) override {}
  void OnOutside(void*, uint64_t) override {}
  void OnDelivered(const Delivered& object) override;
  void OnThreadStart(void* java_thread) override;

  // The drain has made `window`'s interval the JVM's.
  void SetInForce(throttle::LambdaInForce window);

 private:
  throttle::LambdaInForce InForce() const;
  format::Kind KindOf(const Delivered& object) const;

  std::atomic<double> lambda_{1 / kJvmDefaultInterval};
  std::atomic<uint32_t> window_{0};
};

}  // namespace heaprec::sources
