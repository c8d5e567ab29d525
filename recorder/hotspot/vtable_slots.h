// The slots of libjvm's vtables, and of its tables of functions, that hold one function. Where code may not be changed,
// plain stores into these slots redirect it.
//
// Context:  setup and drain (Find, Point); serialised by the caller.
// Threads:  any number of threads may call through the slots meanwhile; each call gets the old function or the new
//           one. No grace period is needed, neither for Point nor for its reverse.
// Failure:  an Error with the reason; every slot is then unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "recorder/hotspot/libjvm.h"

namespace heaprec::hotspot {

class VtableSlots {
 public:
  // Scans libjvm's relocated constants, which contain its vtables. Returns an Error if no slot contains `function`.
  static Result<VtableSlots> Find(const LibJvm& libjvm, uintptr_t function);

  // Stores `function` in all slots. Fails if another library has changed one of them.
  Status Point(uintptr_t function);

  size_t size() const { return slots_.size(); }

 private:
  std::vector<uintptr_t> slots_;
  uintptr_t function_ = 0;  // current value of the slots
};

}  // namespace heaprec::hotspot
