// Where libjvm.so of this process is.
//
// Units:    addresses of this process; text = the executable segment, [text_begin, text_end).
// Context:  setup.
// Failure:  an Error if no libjvm.so is loaded, or its program headers do not name a text segment.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace heaprec::hotspot {

struct LibJvm {
  std::string path;
  uintptr_t base = 0;  // load bias: runtime address = base + address in the file
  uintptr_t text_begin = 0;
  uintptr_t text_end = 0;
  uintptr_t constants_begin = 0;  // relocated, then read-only: vtables; both 0 if libjvm has none
  uintptr_t constants_end = 0;
  std::string build_id;  // lower-case hex; empty if it has none

  static format::Result<LibJvm> Locate();
};

}  // namespace heaprec::hotspot
