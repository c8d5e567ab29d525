// Selects the native frames of a stack that are shown, and spells their functions. The drain names frames while the
// process lives, and a reader after a kill, so both use this.
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

// Whether a function allocates for its caller: strdup, operator new, and the functions through which HotSpot calls
// malloc and mmap. `function`: as spelled by DemangledFunction.
bool AllocatesForCaller(std::string_view module, std::string_view function, Kind kind);

// The name as it is in C++; a symbol that is not mangled is unchanged.
std::string Demangled(const std::string& symbol);
// The same without parameters, limited in length.
std::string DemangledFunction(const std::string& symbol);

struct CodeLocation {
  std::string module;    // "libc.so.6"; empty: not in a module
  std::string function;  // demangled, without its parameters; "0x1234" if there is no symbol
  std::string build_id;  // hexadecimal; empty: none
  uint32_t offset = 0;   // in the function; 0 without a symbol
  // A hook of the agent that passes the program's call on.
  bool IsOfAgent() const { return module.starts_with("libheaprec"); }
};

// Returns the frames of a stack, innermost first: the shown ones of its `count` native frames, then the Java frames
// that called them. `at(i)` returns the CodeLocation of native frame i, `method_of(location)` the key of its
// MethodRecord.
template <typename At, typename MethodOf>
std::vector<RingFrame> FramesToShow(size_t count, const At& at, const MethodOf& method_of, Kind kind,
                                    std::span<const RingFrame> java, bool java_is_cut) {
  size_t last = 0;
  // A frame outside all modules is generated code of the JVM. Only Java frames, or frames without names, are beyond it.
  while (last < count && !at(last).module.empty()) ++last;
  size_t first = 0;
  while (first < last && AllocatesForCaller(at(first).module, at(first).function, kind)) ++first;
  // If all callers are Java, the outermost of these frames allocated (JDK 25's Unsafe reaches os::malloc by a jump).
  if (first > 0 && first == last) --first;
  std::vector<RingFrame> frames;
  for (size_t i = first; i < last; ++i) {
    const CodeLocation& location = at(i);
    if (location.IsOfAgent()) continue;
    frames.push_back({method_of(location), static_cast<int32_t>(location.offset), -1, FrameType::kNative});
  }
  frames.insert(frames.end(), java.begin(), java.end());
  if (java_is_cut) frames.push_back(kGapFrame);
  return frames;
}

}  // namespace heaprec::format
