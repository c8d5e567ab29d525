// Assembles the census of a recording: the layout of objects, the table of threads, and the census itself.
//
// Context:  Make, RegisterThreads: setup. Begin: at a safepoint. End: any attached thread, or the drain while
//           attached. OnTick, NewEpoch: drain. OnThreadStart, OnThreadEnd: inside those events.
// Failure:  Make returns an Error that says why this JVM cannot be counted. The object lives as long as its recording,
//           because a thread may be inside it.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <variant>

#include "base/result.h"
#include "format/model/census.h"
#include "recorder/agent/jvm/jvm.h"
#include "recorder/buffer/ring.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/sources/census/census.h"

namespace heaprec::agent {

class CensusStream {
 public:
  struct Config {
    format::CensusMode mode = format::CensusMode::kOff;
    double per_second = 0;
    uint64_t seed = 0, start_ns = 0;
  };
  // All arguments must outlive it.
  static format::Result<std::unique_ptr<CensusStream>> Make(const Jvm& jvm, buffer::Ring& ring, const Config& config);

  // Registers the current threads, and from now on those that start.
  void RegisterThreads(JNIEnv* jni);
  void Begin() { census_->StartAtSafepoint(*jvm_.threads); }
  bool is_active() const { return census_->is_active(); }
  // Counts the TLABs in use. Error: the threads cannot be stopped for that, or the census has ended. Context: as End.
  format::Result<std::monostate> CountInUse();
  // Counts the TLABs in use while the threads are stopped; if they cannot be stopped, counts these TLABs as
  // unvisited. Idempotent.
  void End(JNIEnv* jni);

  void OnTick(uint64_t now_ns) { census_->OnTick(now_ns); }

  static void OnThreadStart(const Jvm& jvm, JNIEnv* jni, jthread thread);
  static void OnThreadEnd(const void* java_thread);

 private:
  CensusStream(const Jvm& jvm, const hotspot::ObjectLayout& objects) : jvm_(jvm), objects_(objects) {}

  const Jvm& jvm_;
  const hotspot::ObjectLayout objects_;
  std::unique_ptr<sources::Census> census_;
  std::mutex ending_;
};

}  // namespace heaprec::agent
