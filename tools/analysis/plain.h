// Recordings of programs without a JVM: of native memory alone. docs/format.md#file-header
#pragma once

#include <string>

#include "format/model.h"

namespace heaprec::tools {

// Their `source`.
inline constexpr char kPreloaded[] = "preload";

// Said behind the name of such a recording, of whose heap something was asked.
inline constexpr char kNoHeap[] = ": there is no heap in it, it is of native memory: add --kind native";

// Whether allocations of the heap were recorded.
inline bool HasHeap(const format::FileHeader& header) { return header.interval_ns > 0; }

// The stream by which a recording's own times and rates are told.
inline format::Stream MainStream(const format::FileHeader& header) {
  return HasHeap(header) || header.native.interval_ns == 0 ? format::Stream::kAllocations : format::Stream::kNative;
}

// The file of a program without a JVM; empty: there is one.
inline std::string ProgramOf(const format::FileHeader& header) {
  return header.source == kPreloaded ? header.jvm_name : "";
}

}  // namespace heaprec::tools
