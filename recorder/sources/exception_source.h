// exceptions=on: thrown exceptions, all counted, each kept with the probability of the window in force.
//
// Units:    the event.
// Context:  OnThrown: alloc, inside the JVMTI event Exception, where JNI and JVMTI are legal; whatever lock the
//           application holds as it throws is held. thrown: any.
// Threads:  any.
// Failure:  none; every loss goes to the ledger.
// Maths:    docs/streams.md#exceptions
#pragma once

#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "recorder/sources/sample_writer.h"
#include "recorder/sources/window_publisher.h"

namespace heaprec::sources {

struct ThrownException {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  void* java_thread;
  jthread thread;
  jobject exception;
};

class ExceptionSource {
 public:
  // All outlive the source.
  ExceptionSource(WindowBoard& board, buffer::Ledger& ledger, Capture& capture, uint64_t seed)
      : board_(board), ledger_(ledger), capture_(capture), seed_(seed) {}

  void OnThrown(const ThrownException& thrown);
  // Exceptions so far, exactly; never falls.
  uint64_t thrown() const;

 private:
  // Threads that throw at once count on different cache lines.
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<uint64_t> thrown{0};
  };

  void Keep(const ThrownException& thrown, double weight, uint32_t window);

  WindowBoard& board_;
  buffer::Ledger& ledger_;
  Capture& capture_;
  const uint64_t seed_;
  std::array<Stripe, kStripes> stripes_{};
};

}  // namespace heaprec::sources
