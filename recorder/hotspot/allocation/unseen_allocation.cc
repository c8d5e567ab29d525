#include "recorder/hotspot/allocation/unseen_allocation.h"

#include <array>
#include <string_view>

#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/vtable_slots.h"

namespace heaprec::hotspot {
namespace {

// bool CollectedHeap::supports_inline_contig_alloc() const, of the two heaps whose eden is one contiguous space.
constexpr std::string_view kOfSerial = "_ZNK16GenCollectedHeap28supports_inline_contig_allocE";
constexpr std::string_view kOfParallel = "_ZNK20ParallelScavengeHeap28supports_inline_contig_allocE";

// The vtables of the heap's class and of derived classes (11 has two of GenCollectedHeap). More slots mean that the
// linker has merged other virtual functions with the same code.
constexpr size_t kMaxSlots = 3;

bool Refuses(const void*) { return false; }

}  // namespace

bool AllocatesInline(const VmStructs& structs, const JdkRules& rules) {
  const auto is_on = [&structs](std::string_view flag) { return structs.BoolFlag(flag).value_or(false); };
  return rules.allocates_inline_without_tlabs && !structs.BoolFlag("UseTLAB").value_or(true) &&
         (is_on("UseSerialGC") || is_on("UseParallelGC"));
}

Status StopInlineAllocation(const VmStructs& structs) {
  const auto libjvm = LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  const std::string_view name = structs.BoolFlag("UseSerialGC").value_or(false) ? kOfSerial : kOfParallel;
  const auto symbols = SymbolTable::Load(*libjvm, std::array{name});
  if (!symbols.ok()) return symbols.error();
  const auto function = symbols->FindByPrefix(name);
  if (!function) return Error{symbols->origin() + ": no symbol CollectedHeap::supports_inline_contig_alloc"};
  auto slots = VtableSlots::Find(*libjvm, *function);
  if (!slots.ok()) return slots.error();
  if (slots->size() > kMaxSlots) return Error{libjvm->path + ": other functions have the same code"};
  return slots->Point(reinterpret_cast<uintptr_t>(&Refuses));
}

std::vector<std::string> StackChunkFunctions(const VmStructs& structs) {
  struct Collector {
    std::string_view flag, barriers;  // barriers: mangled name
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
