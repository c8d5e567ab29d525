#include "recorder/hotspot/allocation/stack_chunks.h"

#include <string_view>

namespace heaprec::hotspot {

std::vector<std::string> StackChunkFunctions(const VmStructs& structs) {
  struct Collector {
    std::string_view flag, barriers;  // the barriers' mangled name
  };
  static constexpr Collector kCollectors[] = {
      {"UseG1GC", "12G1BarrierSet"},
      {"UseSerialGC", "19CardTableBarrierSet"},
      {"UseParallelGC", "19CardTableBarrierSet"},
      {"UseZGC", "11ZBarrierSet"},
      {"UseZGC", "11XBarrierSet"},  // 21 to 23, without generations
      {"UseShenandoahGC", "20ShenandoahBarrierSet"},
      {"UseEpsilonGC", "17EpsilonBarrierSet"},
  };
  const bool is_narrow = structs.BoolFlag("UseCompressedOops").value_or(false);
  std::vector<std::string> names;
  for (const auto& [flag, barriers] : kCollectors) {
    if (!structs.BoolFlag(flag).value_or(false)) continue;
    names.push_back("_ZN6FreezeI6ConfigIL8oop_kind" + std::string(is_narrow ? "0" : "1") + "E" + std::string(barriers) +
                    "EE14allocate_chunkE");
  }
  return names;
}

}  // namespace heaprec::hotspot
