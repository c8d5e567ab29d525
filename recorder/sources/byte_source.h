// source=hooks: the armed byte clock. Sample points are random in bytes; the JVM delivers the object that holds one.
//
// Context, Threads, Failure: as Source.   Maths: docs/sampler.md#byte-clock
#pragma once

#include "recorder/sources/source.h"

namespace heaprec::sources {

class ByteSource final : public RecordingSource {
 public:
  using RecordingSource::RecordingSource;
  void OnRefill(void* java_thread, uint64_t size) override;
  void OnOutside(void* java_thread, uint64_t size) override;
  void OnDelivered(const Delivered& object) override;

 private:
  void Apply(void* java_thread, ThreadEntry& entry, const throttle::Touch& touch, uint64_t size, bool outside);
};

}  // namespace heaprec::sources
