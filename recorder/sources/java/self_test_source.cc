#include "recorder/sources/java/self_test_source.h"

#include <limits>

namespace heaprec::sources {

void SelfTestSource::Reset(void* java_thread, bool force) {
  java_thread_ = java_thread;
  force_ = force;
  hook_size = delivered_size = 0;
}

void SelfTestSource::OnHook(void* java_thread, uint64_t size, bool outside) {
  if (java_thread != java_thread_) return;
  hook_size = size;
  delivered_size = 0;  // what came before was not this object
  if (force_) {
    layout_.Force(java_thread);
  } else {
    layout_.ArmInHook(java_thread, std::numeric_limits<double>::infinity(), size, outside);
  }
}

void SelfTestSource::OnDelivered(const Delivered& object) {
  if (object.java_thread != java_thread_) return;
  // What comes after the test finds this thread at its next slow path.
  layout_.Force(object.java_thread);
  delivered_size = object.size;
}

}  // namespace heaprec::sources
