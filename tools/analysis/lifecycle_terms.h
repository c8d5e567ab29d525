// What that is called which is tracked until it is gone, by stream.
#pragma once

#include "format/model.h"

namespace heaprec::tools {

struct LifecycleTerms {
  const char* things;        // "objects"
  const char* ended;         // "died"
  const char* option;        // of the agent, by which they are tracked
  bool is_collected = true;  // collections find out what died; else each end is known at once
};

inline constexpr char kNoCollections[] = "the recording does not say when the JVM collected";

inline LifecycleTerms WordsOf(format::Stream stream) {
  if (stream == format::Stream::kNative) return {"blocks", "freed", "native=on", false};
  if (stream == format::Stream::kMapping) return {"mappings", "unmapped", "native=on", false};
  return {"objects", "died", "live=on"};
}

}  // namespace heaprec::tools
