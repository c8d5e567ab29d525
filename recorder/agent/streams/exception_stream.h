// Assembles the exceptions of a recording: windows, counters, SampleWriter and source of the second stream.
//
// Context:  the constructor, Activate: setup. OnTick, NewEpoch, MarkStackEmitted, Stop: drain.
// Failure:  none. The object lives as long as its recording, because a thread may be inside it.
#pragma once

#include <cstdint>

#include "recorder/agent/jvm/jvm.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/java/exception_source.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/window_publisher.h"
#include "throttle/controller.h"

namespace heaprec::agent {

class ExceptionStream {
 public:
  // All arguments must outlive it.
  ExceptionStream(buffer::Ring& ring, const Jvm& jvm, const throttle::ControllerConfig& config, uint64_t start_ns,
                  int stack_depth, uint64_t seed);
  void Activate();
  void OnTick(uint64_t now_ns);
  void NewEpoch() { capture_.NewEpoch(); }
  void MarkStackEmitted(const format::StackKey& key) { capture_.MarkStackEmitted(key); }
  // Stops sampling; all exceptions thrown so far are counted.
  void Stop();

 private:
  buffer::SharedCounters shared_counters_;
  sources::WindowPublisher board_;
  sources::SampleWriter capture_;
  sources::ExceptionSource source_;
};

}  // namespace heaprec::agent
