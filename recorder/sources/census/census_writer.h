// Writes what walks found to a lane, with the names that the lanes lack.
//
// Context:  alloc or gc: raw memory and a lane only.
// Threads:  any.
// Failure:  Write returns false if no lane has room.
// Format:   docs/format/ring.md
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "recorder/buffer/emitted_definitions.h"
#include "recorder/buffer/ring.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/sources/census/census_threads.h"
#include "recorder/sources/census/class_counts.h"

namespace heaprec::sources {

class CensusWriter {
 public:
  // All arguments must outlive it.
  CensusWriter(buffer::Ring& ring, const hotspot::Names& names, const CensusThreads& threads)
      : ring_(ring), names_(names), threads_(threads) {}

  // Replaces the class addresses in `found` by the classes' keys.
  bool Write(const void* java_thread, double weight, std::span<ClassCounts::Entry> found);
  // Definitions must be emitted again.
  void NewEpoch() { epoch_.fetch_add(1, std::memory_order_relaxed); }

 private:
  uint64_t Define(std::string_view class_name, uint32_t lane_hint, uint32_t epoch);
  uint64_t Define(const CensusThread& thread, uint32_t lane_hint, uint32_t epoch);

  buffer::Ring& ring_;
  const hotspot::Names& names_;
  const CensusThreads& threads_;
  std::atomic<uint32_t> epoch_{1};
  buffer::EmittedDefinitions<1 << 12> classes_, known_threads_;
};

}  // namespace heaprec::sources
