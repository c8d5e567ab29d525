// What that is called which is followed until it is gone, by stream.
#pragma once

#include "format/model.h"

namespace heaprec::tools {

struct LiveWords {
  const char* things;        // "objects"
  const char* ended;         // "died"
  const char* option;        // of the agent, by which they are followed
  bool is_collected = true;  // collections find out what died; else each end is known at once
};

inline constexpr char kNoCollections[] = "the recording does not say when the JVM collected";

inline LiveWords WordsOf(format::Stream stream) {
  if (stream == format::Stream::kNative) return {"blocks", "freed", "native=on", false};
  if (stream == format::Stream::kMapped) return {"mappings", "unmapped", "native=on", false};
  return {"objects", "died", "live=on"};
}

}  // namespace heaprec::tools
