// The common part of recordings of a JVM and of a program without a JVM: the streams, and the ring, header and drain
// for them.
//
// Context:  setup. EndAndWait: any thread but the drain.
// Failure:  an Error if there is no memory for the ring, or no file; InstallMallocHooks: as native::MallocHooks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "format/model/model.h"
#include "recorder/agent/options/options.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/native/native_stream.h"
#include "recorder/sources/part.h"
#include "recorder/writer/drain.h"
#include "throttle/controller.h"

namespace heaprec::agent {

// What is planned for one stream.
struct StreamPlan {
  format::StreamCap cap;                               // interval_ns 0: the stream is not recorded
  std::optional<throttle::ControllerConfig> throttle;  // nullopt: each event is a sample, up to the cap
  // about how many samples are buffered until an interval is reduced
  uint32_t buffered_per_interval = 0;
  uint32_t max_tracked = 0;  // maximum tracked at a time
  bool is_recorded() const { return cap.interval_ns > 0; }
};

// The plan of a recording. Times of the recording count from the construction of the plan.
struct RecordingPlan {
  // `of` must outlive this.
  explicit RecordingPlan(const Options& of);

  // Records the stream, with at most this many samples per second.
  void Add(format::Stream stream, double per_second);
  void AddAllocations();
  void AddNative();  // malloc, and mmap if the options want it
  // Installs the malloc hooks, and adds native memory, which activates them later. On failure the plan stores the
  // reason.
  Status InstallMallocHooks();

  uint64_t Seed() const;
  // Requires AddNative.
  sources::NativeStream::Config NativeConfig(uint32_t recording) const;
  Result<std::unique_ptr<buffer::Ring>> MakeRing() const;
  // Returns the header, except for the fields that only a JVM or only a program has, and those that `parts` describe.
  format::FileHeader Header(const buffer::Ring& ring, const sources::Parts& parts) const;
  // `ring` and `parts` must outlive the drain. `callbacks`: on_tick, on_stop and name_of.
  Result<std::unique_ptr<writer::Drain>> MakeDrain(buffer::Ring* ring, const format::FileHeader& header,
                                                   sources::Parts* parts, writer::DrainCallbacks callbacks) const;

  const Options& options;
  const format::RecordingId id;
  const uint64_t start_epoch_ns, start_ns;
  format::PerStream<StreamPlan> streams;
  std::unique_ptr<native::MallocHooks> malloc_hooks;  // moved into the stream later
  std::string native_unavailable_reason;              // why native memory, or a part of it, is not recorded

 private:
  format::PerStream<format::StreamCap> Caps() const;
};

// Ends the recording and waits, some seconds at most, until it is complete in its file.
void EndAndWait(writer::Drain* drain, const std::string& reason);

}  // namespace heaprec::agent
