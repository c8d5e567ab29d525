// The self-test's source: records what the hooks and the JVM deliver for one thread, and forces objects on request.
//
// Context, Threads, Failure: as Source; other threads are ignored.
#pragma once

#include "recorder/sources/java/source.h"

namespace heaprec::sources {

class SelfTestSource final : public Source {
 public:
  explicit SelfTestSource(const hotspot::ThreadLayout& layout) : layout_(layout) {}
  void OnRefill(void* java_thread, uint64_t size) override { OnHook(java_thread, size, false); }
  void OnOutside(void* java_thread, uint64_t size) override { OnHook(java_thread, size, true); }
  void OnDelivered(const Delivered& object) override;

  // Starts a step of the test on `java_thread`.
  void Reset(void* java_thread, bool force);

  uint64_t hook_size = 0, delivered_size = 0;  // of the last object seen; 0: none

 private:
  void OnHook(void* java_thread, uint64_t size, bool outside);
  const hotspot::ThreadLayout& layout_;
  bool force_ = false;
  void* java_thread_ = nullptr;
};

}  // namespace heaprec::sources
