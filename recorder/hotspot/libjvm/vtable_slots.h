// The slots of libjvm's vtables that hold one virtual function: where code may not be changed, they can be pointed
// elsewhere, with plain stores into data.
//
// Context:  setup and drain (Find, Point); serialised by the caller.
// Threads:  any number of threads may call through the slots meanwhile: each finds the old function or the new one.
//           No grace period is needed, neither for Point nor for its reverse.
// Failure:  an Error with the reason; every slot is then as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "format/bytes/result.h"
#include "recorder/hotspot/libjvm/libjvm.h"

namespace heaprec::hotspot {

class VtableSlots {
 public:
  // Scans libjvm's relocated constants, where its vtables lie. An Error if no slot holds `function`.
  static format::Result<VtableSlots> Find(const LibJvm& libjvm, uintptr_t function);

  // All slots hold `function` from now on. Refused if one of them was changed by someone else.
  format::Result<std::monostate> Point(uintptr_t function);

  size_t size() const { return slots_.size(); }

 private:
  std::vector<uintptr_t> slots_;
  uintptr_t function_ = 0;  // that they hold
};

}  // namespace heaprec::hotspot
