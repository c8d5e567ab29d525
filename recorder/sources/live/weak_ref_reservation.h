// A tracking index and a weak reference of an object, reserved for its sample. They are released if there is
// no sample.
//
// Context:  alloc, inside a JVMTI callback: JNI is legal, and may wait for a safepoint, so no lease is held meanwhile.
// Failure:  no free entry, or no memory for the reference: Track returns 0.
#pragma once

#include <jni.h>

#include <cstdint>

#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/sources/live/weak_ref_table.h"

namespace heaprec::sources {

class WeakRefReservation {
 public:
  // Reserves nothing if `places` or `object` is null.
  WeakRefReservation(WeakRefTable* places, const hotspot::HeapMeter* meter, JNIEnv* jni, jobject object)
      : places_(places) {
    if (places == nullptr || object == nullptr) return;
    place_ = places->Take();
    if (place_ == 0) return;
    collections_ = meter->Collections();
    reference_ = jni->NewWeakGlobalRef(object);
    if (reference_ == nullptr) jni->ExceptionClear();
  }
  ~WeakRefReservation() {
    if (place_ != 0) places_->Cancel(place_, reference_);
  }
  WeakRefReservation(const WeakRefReservation&) = delete;
  WeakRefReservation& operator=(const WeakRefReservation&) = delete;

  // From now on the entry belongs to the sample. Returns its tracking index; 0: it is not tracked.
  uint16_t Track(uint64_t sample) {
    if (reference_ == nullptr) return 0;
    const uint16_t place = place_;
    place_ = 0;
    places_->Track(place, reference_, sample, collections_);
    return place;
  }

 private:
  WeakRefTable* const places_;
  uint16_t place_ = 0;
  jweak reference_ = nullptr;
  uint64_t collections_ = 0;
};

}  // namespace heaprec::sources
