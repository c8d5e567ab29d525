// Assembles the mappings of a recording: counters, the hooks' side and the drain's side of the fourth stream.
//
// Context:  the constructor: setup. The rest: drain; mapper: setup.
// Threads:  one; the hooks' side any.
// Failure:  none; every loss goes to the shared counters. The object lives as long as its recording, because a thread
//           may be inside it.
// Format:   docs/format/recording.md#mappings
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/native/mapping_source.h"
#include "recorder/sources/native/mapping_table.h"
#include "recorder/sources/native/native_sample_writer.h"

namespace heaprec::agent {

class MappingStream {
 public:
  static constexpr uint32_t kMaxTracked = 32768;
  // An interval of a second takes in this many times the mappings that it keeps (`per_second`); which ones is random.
  static constexpr uint32_t kOversampling = 4;

  // All arguments must outlive it; `java` may be null.
  MappingStream(buffer::Ring& ring, uint64_t start_ns, uint32_t per_second, sources::NativeSampleWriter& writer,
                sources::JavaFrames* java);

  static constexpr uint64_t kIntervalNs = 1'000'000'000;
  native::MmapListener* mapper() { return &source_; }
  // Takes in the calls so far. If an interval has ended since the last tick, calls of the next one wait for the next
  // tick, so that the counters at an interval's end are those of its own calls.
  void OnTick(uint64_t now_ns);
  void Stop(uint64_t now_ns);
  void ForgetLibraries() { source_.ForgetLibraries(); }

 private:
  void TakeIn(uint64_t until_ns, uint64_t now_ns);
  void Apply(const sources::MappingPoint& point);
  void Add(const sources::MappingPoint& point, const sources::MappingTable::New& made);

  buffer::SharedCounters shared_counters_;
  const uint64_t start_ns_;
  sources::NativeSampleWriter& writer_;
  sources::MappedPoints points_;
  format::RingMappingCalls& mapping_calls_;
  sources::MappingSource source_;
  sources::MappingTable ranges_;
  std::deque<sources::MappingPoint> late_;  // of the next interval
  std::vector<native::Mapping> kernels_;    // the kernel's mappings when a call was missed; empty: no call was
  uint64_t next_id_, calls_ = 0, bytes_ = 0, interval_ = 0;
};

}  // namespace heaprec::agent
