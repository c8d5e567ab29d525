#include "format/model.h"

namespace heaprec::format {

const char* LossName(Loss loss) {
  switch (loss) {
    case Loss::kMissed:
      return "missed";
    case Loss::kRingFull:
      return "ring_full";
    case Loss::kLanesBusy:
      return "lanes_busy";
    case Loss::kNoClock:
      return "no_clock";
    case Loss::kNoStack:
      return "no_stack";
    case Loss::kWriteFailed:
      return "write_failed";
    case Loss::kOversized:
      return "oversized";
  }
  return "unknown";
}

}  // namespace heaprec::format
