// Which native frames of a stack are shown, and how their functions are spelled: the same by the drain, which names
// frames while the process lives, and by a reader that does it after a kill.
//
// Context:  drain (it allocates).
// Format:   docs/format/recording.md#native-frames
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "format/model/stream.h"

namespace heaprec::format {

// What allocates for its caller: strdup, operator new, and the functions through which HotSpot calls malloc and mmap.
// `function` as DemangledFunction spells it.
bool AllocatesForCaller(std::string_view module, std::string_view function, Kind kind);

// Demangled, without its parameters, of bounded length.
std::string DemangledFunction(const std::string& symbol);

// [first, last) of a stack's native frames, innermost first.
struct ShownFrames {
  size_t first, last;
};

// `at(i)` has the module of frame i, empty where none holds it, and its function.
template <typename At>
ShownFrames FramesToShow(size_t count, const At& at, Kind kind) {
  size_t last = 0;
  // In no module: the JVM's own code. What follows are its Java frames, or nothing that could be told.
  while (last < count && !at(last).module.empty()) ++last;
  size_t first = 0;
  while (first < last && AllocatesForCaller(at(first).module, at(first).function, kind)) ++first;
  // Where nobody called them but Java, it was they (JDK 25's Unsafe goes to os::malloc by a jump).
  if (first > 0 && first == last) --first;
  return {first, last};
}

}  // namespace heaprec::format
