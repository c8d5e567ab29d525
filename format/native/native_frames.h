// Which native frames of a stack are shown, and how their functions are spelled: the same by the drain, which names
// frames while the process lives, and by a reader that does it after a kill.
//
// Context:  drain (it allocates).
// Format:   docs/format/recording.md#native-frames
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/stream.h"
#include "format/ring/ring_records.h"

namespace heaprec::format {

// What allocates for its caller: strdup, operator new, and the functions through which HotSpot calls malloc and mmap.
// `function` as DemangledFunction spells it.
bool AllocatesForCaller(std::string_view module, std::string_view function, Kind kind);

// Demangled, without its parameters, of bounded length.
std::string DemangledFunction(const std::string& symbol);

struct CodeLocation {
  std::string module;    // "libc.so.6"; empty: in none
  std::string function;  // demangled, without its parameters; "0x1234" where there is no symbol
  std::string build_id;  // hexadecimal; empty: none
  uint32_t offset = 0;   // in the function; 0 without a symbol
};

// The frames of a stack, innermost first: of its `count` native ones those that are shown, then the Java frames that
// called them. `at(i)` is the CodeLocation of native frame i, `method_of(location)` its MethodRecord's key.
template <typename At, typename MethodOf>
std::vector<RingFrame> FramesToShow(size_t count, const At& at, const MethodOf& method_of, Kind kind,
                                    std::span<const RingFrame> java, bool java_is_cut) {
  size_t last = 0;
  // In no module: the JVM's own code. What follows are its Java frames, or nothing that could be told.
  while (last < count && !at(last).module.empty()) ++last;
  size_t first = 0;
  while (first < last && AllocatesForCaller(at(first).module, at(first).function, kind)) ++first;
  // Where nobody called them but Java, it was they (JDK 25's Unsafe goes to os::malloc by a jump).
  if (first > 0 && first == last) --first;
  std::vector<RingFrame> frames;
  for (size_t i = first; i < last; ++i) {
    const CodeLocation& location = at(i);
    frames.push_back({method_of(location), static_cast<int32_t>(location.offset), -1, FrameType::kNative});
  }
  frames.insert(frames.end(), java.begin(), java.end());
  if (java_is_cut) frames.push_back(kGapFrame);
  return frames;
}

}  // namespace heaprec::format
