#include "format/model/names.h"

namespace heaprec::format {

const char* FrameTypeName(FrameType type) {
  switch (type) {
    case FrameType::kUnknown:
      return "unknown";
    case FrameType::kInterpreted:
      return "interpreted";
    case FrameType::kCompiled:
      return "compiled";
    case FrameType::kInlined:
      return "inlined";
    case FrameType::kNative:
      return "native";
  }
  return "unknown";
}

}  // namespace heaprec::format
