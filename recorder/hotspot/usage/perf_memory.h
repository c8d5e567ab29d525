// The JVM's performance memory: its counters by name, at addresses that are fixed for the life of the process.
//
// Context:  setup: live phase, when every counter of the collector exists.
// Failure:  no counter is visited if there is no such memory (-XX:-UsePerfData), or its layout differs.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

struct PerfCounter {
  std::string_view name;
  const char* value = nullptr;
  size_t bytes = 0;      // of the value: 8, or the room for a text
  bool is_text = false;  // else an int64
};

void ForEachPerfCounter(const VmStructs& structs, const std::function<void(const PerfCounter&)>& visit);

}  // namespace heaprec::hotspot
