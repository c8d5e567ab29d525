// A place and a weak reference of an object, on their way to its sample; given up where there is none in the end.
//
// Context:  alloc, inside a JVMTI callback: JNI is legal, and may wait for a safepoint: no lease is held meanwhile.
// Failure:  no place, or no memory for the reference: Follow answers 0.
#pragma once

#include <jni.h>

#include <cstdint>

#include "recorder/hotspot/heap_meter.h"
#include "recorder/sources/live/weak_ref_table.h"

namespace heaprec::sources {

class Hold {
 public:
  // Nothing is held where `places` or `object` is null.
  Hold(Places* places, const hotspot::HeapMeter* meter, JNIEnv* jni, jobject object) : places_(places) {
    if (places == nullptr || object == nullptr) return;
    place_ = places->Take();
    if (place_ == 0) return;
    collections_ = meter->Collections();
    reference_ = jni->NewWeakGlobalRef(object);
    if (reference_ == nullptr) jni->ExceptionClear();
  }
  ~Hold() {
    if (place_ != 0) places_->GiveUp(place_, reference_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // From now on the sample's. Where it is followed; 0: it is not.
  uint16_t Follow(uint64_t sample) {
    if (reference_ == nullptr) return 0;
    const uint16_t place = place_;
    place_ = 0;
    places_->Follow(place, reference_, sample, collections_);
    return place;
  }

 private:
  Places* const places_;
  uint16_t place_ = 0;
  jweak reference_ = nullptr;
  uint64_t collections_ = 0;
};

}  // namespace heaprec::sources
