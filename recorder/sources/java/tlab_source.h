// source=tlab: the candidates of JFR. The unit is the event (a refill or an outside allocation). It is kept with the
// probability of the window and attributed to the object that caused it. Attribution by refill is biased, and readers
// say so.
//
// Context, Threads, Failure: as Source.   Maths: docs/streams.md#events
#pragma once

#include "recorder/sources/java/source.h"

namespace heaprec::sources {

class TlabSource final : public RecordingSource {
 public:
  using RecordingSource::RecordingSource;
  void OnRefill(void* java_thread, uint64_t size) override { OnEvent(java_thread, size, Pending::kRefill); }
  void OnOutside(void* java_thread, uint64_t size) override { OnEvent(java_thread, size, Pending::kOutside); }
  void OnDelivered(const Delivered& object) override;
  void OnThreadEnd(void* java_thread) override;

 private:
  throttle::PointSums TallyOf(const throttle::DeliveryDecision& decision) const override {
    return {decision.effective_bytes, decision.effective_bytes};  // events, not bytes
  }
  void OnEvent(void* java_thread, uint64_t size, Pending kind);
};

}  // namespace heaprec::sources
