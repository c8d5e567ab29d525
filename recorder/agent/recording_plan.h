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
#include <variant>

#include "base/result.h"
#include "format/model/model.h"
#include "recorder/agent/options/options.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/writer/drain.h"
#include "throttle/controller.h"

namespace heaprec::agent {

// Times of the recording count from the construction of its plan.
struct RecordingPlan {
  using Config = std::optional<throttle::ControllerConfig>;  // nullopt: the stream is not recorded

  // `of` must outlive the plan.
  explicit RecordingPlan(const Options& of);

  Config At(double per_second, bool unit_is_event) const;
  void PlanAllocations();
  // Installs the malloc hooks; the stream activates them later. On failure the plan has the reason.
  format::Result<std::monostate> InstallMallocHooks();

  uint64_t Seed() const;
  uint32_t maps_per_second() const { return native ? options.maps_per_second : 0; }
  format::PerStream<format::StreamCap> Caps() const;
  format::Result<std::unique_ptr<buffer::Ring>> MakeRing() const;
  // The header, except for fields that only a JVM or only a program has, and for tracking on the heap.
  format::FileHeader Header(const buffer::Ring& ring) const;
  // `ring` must outlive the drain. `callbacks`: all except the clock and those of native memory.
  format::Result<std::unique_ptr<writer::Drain>> MakeDrain(buffer::Ring* ring, const format::FileHeader& header,
                                                           writer::DrainCallbacks callbacks) const;

  const Options& options;
  const format::RecordingId id;
  const uint64_t start_epoch_ns, start_ns;
  Config allocations, exceptions, native;
  std::unique_ptr<native::MallocHooks> native_calls;  // until the stream takes them
  std::string native_unavailable_reason;              // why native memory, or a part of it, is not recorded
};

// About how many samples of an interval are buffered until it is reduced.
uint32_t BufferedPerInterval(const throttle::ControllerConfig& config);

// Ends the recording and waits until it is complete in its file, at most for some seconds.
void EndAndWait(writer::Drain* drain, const std::string& reason);

}  // namespace heaprec::agent
