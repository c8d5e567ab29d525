// The events of a JFR file that tell of allocations, whoever wrote it: fields are found by their names.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/model/model.h"
#include "tools/import/jfr/constants.h"
#include "tools/import/jfr/cursor.h"
#include "tools/import/jfr/file.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

// Which events stand for the allocations of a file: each counts the same bytes in its way.
enum class EventSet : uint8_t {
  kSamples,  // jdk.ObjectAllocationSample: since JDK 16, throttled
  kTlabs,    // jdk.ObjectAllocationInNewTLAB and -OutsideTLAB: all of them, or those that async-profiler took
  // heaprec.AllocationSample: the same samples with all that heaprec knows of them. Its weights are never calibrated.
  kOwnSamples,
};
std::optional<EventSet> EventSetOf(std::string_view event_name);

struct Allocation {
  int64_t ticks = 0;
  uint64_t thread = 0, stack = 0, object_class = 0, labels = 0;  // keys of constants; 0: none
  uint64_t size = 0;                                             // of the object; 0: the file does not say
  uint64_t tlab_size = 0;
  format::Kind kind = format::Kind::kTlab;
  double weight = 0;  // bytes
};

// Reads an event whose EventSetOf is known; nullopt: it cannot be read, or represents no bytes.
std::optional<Allocation> ReadAllocation(const Event& event);

}  // namespace heaprec::tools::jfr
