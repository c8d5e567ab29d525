// What a recording of a JVM and one of a program without a JVM have in common: which streams there are, and the ring,
// the header and the drain that follow from that.
//
// Context:  setup. EndAndWait: any thread but the drain.
// Failure:  an Error when there is no memory for the ring, or no file; for InstallMallocHooks see native::MallocHooks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "format/model/model.h"
#include "recorder/agent/options/options.h"
#include "recorder/buffer/ring.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/writer/drain.h"
#include "throttle/controller.h"

namespace heaprec::agent {

// The recording begins when its plan is made.
struct RecordingPlan {
  using Config = std::optional<throttle::ControllerConfig>;  // without one it is not recorded

  // `of` outlives it.
  explicit RecordingPlan(const Options& of);

  Config At(double per_second, bool unit_is_event) const;
  // Native memory is recorded: malloc's calls are led here, and the stream is to activate them. Or the plan says why
  // not.
  format::Result<std::monostate> InstallMallocHooks();

  uint64_t Seed() const;
  uint32_t maps_per_second() const { return native ? options.maps_per_second : 0; }
  format::PerStream<format::StreamCap> Caps() const;
  format::Result<std::unique_ptr<buffer::Ring>> MakeRing() const;
  // All but what tells a JVM from a program, and what is tracked on its heap.
  format::FileHeader Header(const buffer::Ring& ring) const;
  // `ring` outlives it. `callbacks` without the clock, and without what becomes of native memory.
  format::Result<std::unique_ptr<writer::Drain>> MakeDrain(buffer::Ring* ring, const format::FileHeader& header,
                                                           writer::DrainCallbacks callbacks) const;

  const Options& options;
  const format::RecordingId id;
  const uint64_t start_epoch_ns, start_ns;
  Config allocations, exceptions, native;
  std::unique_ptr<native::MallocHooks> native_calls;  // until the stream has them
  std::string native_unavailable_reason;              // why it is not recorded, or not all of it
};

// How many samples of an interval are held until it is reduced, about.
uint32_t BufferedPerInterval(const throttle::ControllerConfig& config);

// Until the recording is complete in its file, or for some seconds.
void EndAndWait(writer::Drain* drain, const std::string& reason);

}  // namespace heaprec::agent
