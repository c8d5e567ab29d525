// The kinds of samples, and of what else stands on the time axis, as options, text and exports spell them.
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
      return "released";
    case format::LifecycleKind::kUntracked:
      return "not_followed";
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
      return "native";
    case format::Kind::kMapping:
      return "mapped";
  }
  return "?";
}

}  // namespace heaprec::tools
