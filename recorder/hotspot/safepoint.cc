#include "recorder/hotspot/safepoint.h"

namespace heaprec::hotspot {
namespace {

bool Wait(void* context) {
  auto* const jvmti = static_cast<jvmtiEnv*>(context);
  jvmtiStackInfo* stacks = nullptr;
  jint count = 0;
  // One frame of each thread: the cheapest JVMTI call that is always a safepoint operation, on 11 to 25.
  if (jvmti->GetAllStackTraces(1, &stacks, &count) != JVMTI_ERROR_NONE) return false;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(stacks));
  return true;
}

}  // namespace

GracePeriod SafepointGrace(jvmtiEnv* jvmti) { return {Wait, jvmti}; }

}  // namespace heaprec::hotspot
