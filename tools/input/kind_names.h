// The kinds of samples, and of what else stands on the time axis, as options, text and exports spell them.
#pragma once

#include "format/model.h"

namespace heaprec::tools {

inline constexpr char kCollectionKind[] = "gc", kHeapKind[] = "heap", kMemoryKind[] = "memory",
                      kCensusKind[] = "census";

inline const char* FateKindName(format::FateKind kind) {
  switch (kind) {
    case format::FateKind::kDied:
      return "died";
    case format::FateKind::kReleased:
      return "released";
    case format::FateKind::kNotFollowed:
      return "not_followed";
    case format::FateKind::kShrunk:
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
    case format::Kind::kMapped:
      return "mapped";
  }
  return "?";
}

}  // namespace heaprec::tools
