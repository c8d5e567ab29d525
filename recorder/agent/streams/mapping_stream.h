// The mappings of a recording: counters, hooks' side and the drain's of the fourth stream, put together.
//
// Context:  the constructor: setup. The rest: drain; mapper: setup.
// Threads:  one; the hooks' side any.
// Failure:  none; every loss goes to the shared counters. It lives as long as its recording: a thread may be inside it.
// Format:   docs/format/recording.md#mappings
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "recorder/buffer/ring.h"
#include "recorder/buffer/shared_counters.h"
#include "recorder/sources/native/mapping_source.h"
#include "recorder/sources/native/mapping_table.h"
#include "recorder/sources/native/native_sample_writer.h"

namespace heaprec::agent {

class MappingStream {
 public:
  static constexpr uint32_t kMaxTracked = 32768;
  // Of those that an interval of a second keeps (`per_second`) so many times come into it: which is drawn.
  static constexpr uint32_t kOversampling = 4;

  // All outlive it; `java` may be null.
  MappingStream(buffer::Ring& ring, uint64_t start_ns, uint32_t per_second, sources::NativeSampleWriter& writer,
                sources::JavaFrames* java);

  static constexpr uint64_t kIntervalNs = 1'000'000'000;
  native::MmapListener* mapper() { return &source_; }
  // Takes in the calls so far. Where an interval has ended since the last tick, those of the next one wait for the next
  // tick: what was counted at its end is what was mapped in it.
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
  std::deque<sources::MappingPoint> late_;  // of the interval to come
  std::vector<native::Mapping> kernels_;    // what it had mapped when a call was missed; empty: none was
  uint64_t next_id_, calls_ = 0, bytes_ = 0, interval_ = 0;
};

}  // namespace heaprec::agent
