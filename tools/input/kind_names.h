// Names of the kinds of samples, and of the other rows on the time axis, in options, text and exports.
#pragma once

#include "format/model/model.h"

namespace heaprec::tools {

inline constexpr char kCollectionKind[] = "gc", kHeapKind[] = "heap", kMemoryKind[] = "memory", kCpuKind[] = "cpu",
                      kCensusKind[] = "census";

inline const char* LifecycleKindName(format::LifecycleKind kind) {
  switch (kind) {
    case format::LifecycleKind::kDied:
      return "died";
    case format::LifecycleKind::kEvicted:
      return "evicted";
    case format::LifecycleKind::kUntracked:
      return "untracked";
    case format::LifecycleKind::kShrunk:
      return "shrunk";
  }
  return "?";
}

inline const char* KindName(format::Kind kind) {
  switch (kind) {
    case format::Kind::kTlab:
      return "tlab";
    case format::Kind::kOutside:
      return "outside";
    case format::Kind::kException:
      return "exception";
    case format::Kind::kNative:
      return "malloc";
    case format::Kind::kMapping:
      return "mmap";
  }
  return "?";
}

}  // namespace heaprec::tools
