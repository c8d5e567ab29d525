// exceptions=on: counts all thrown exceptions, and keeps each with the probability of the current window. An exception
// that is thrown again, by the handler that caught it or after native code, counts once (docs/streams.md#exceptions).
//
// Units:    events.
// Context:  OnException, OnCaught: alloc, inside the JVMTI event Exception or ExceptionCatch, where JNI and JVMTI are
//           legal. The application may hold any lock. thrown: any.
// Threads:  any.
// Failure:  none; every loss goes to the shared counters.
// Maths:    docs/streams.md#exceptions
#pragma once

#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "recorder/buffer/lane_lease.h"
#include "recorder/sources/part.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/window_publisher.h"

namespace heaprec::sources {

struct ExceptionEvent {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  void* java_thread;
  jthread thread;
  jobject exception;
  jmethodID method;  // where the exception is thrown
  jlocation location;
};

class ExceptionSource {
 public:
  // All arguments must outlive the source.
  ExceptionSource(WindowPublisher& windows, buffer::SharedCounters& shared_counters, SampleWriter& writer,
                  uint64_t seed)
      : windows_(windows), shared_counters_(shared_counters), writer_(writer), seed_(seed) {}

  void OnException(const ExceptionEvent& thrown);
  // A handler of the calling thread begins at this location.
  static void OnCaught(jmethodID method, jlocation location);
  // Exact number of exceptions so far; never decreases.
  uint64_t thrown() const;

 private:
  // Concurrently throwing threads use different cache lines.
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<uint64_t> thrown{0};
  };

  void Keep(const ExceptionEvent& thrown, double weight, uint32_t window);

  WindowPublisher& windows_;
  buffer::SharedCounters& shared_counters_;
  SampleWriter& writer_;
  const uint64_t seed_;
  std::array<Stripe, kStripes> stripes_{};
};

// The exceptions of a recording: windows, counters, SampleWriter and source of their stream.
class ExceptionStream final : public Part {
 public:
  // All arguments must outlive it.
  ExceptionStream(buffer::Ring& ring, const hotspot::Names& names, const ThreadFields& fields,
                  const throttle::ControllerConfig& config, uint64_t start_ns, int stack_depth, uint64_t seed);
  Status Activate() override;
  void OnTick(uint64_t now_ns) override;
  void NewEpoch() override { writer_.NewEpoch(); }
  void MarkStackEmitted(const format::StackKey& key) override { writer_.MarkStackEmitted(key); }
  void Stop() override;

 private:
  buffer::SharedCounters shared_counters_;
  WindowPublisher windows_;
  SampleWriter writer_;
  ExceptionSource source_;
};

}  // namespace heaprec::sources
