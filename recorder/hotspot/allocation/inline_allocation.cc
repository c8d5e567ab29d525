#include "recorder/hotspot/allocation/inline_allocation.h"

#include <array>
#include <string_view>

#include "recorder/hotspot/libjvm/libjvm.h"
#include "recorder/hotspot/libjvm/symbols.h"
#include "recorder/hotspot/libjvm/vtable_slots.h"

namespace heaprec::hotspot {
namespace {

// bool CollectedHeap::supports_inline_contig_alloc() const, of the two heaps that have an eden in one piece.
constexpr std::string_view kOfSerial = "_ZNK16GenCollectedHeap28supports_inline_contig_allocE";
constexpr std::string_view kOfParallel = "_ZNK20ParallelScavengeHeap28supports_inline_contig_allocE";

// The vtables of the heap's class and of those derived from it (11 has two of GenCollectedHeap). More slots mean that
// the linker gave other virtual functions the same code.
constexpr size_t kMaxSlots = 3;

bool Refuses(const void*) { return false; }

}  // namespace

bool AllocatesInline(const VmStructs& structs, const JdkRules& rules) {
  const auto is_on = [&structs](std::string_view flag) { return structs.BoolFlag(flag).value_or(false); };
  return rules.allocates_inline_without_tlabs && !structs.BoolFlag("UseTLAB").value_or(true) &&
         (is_on("UseSerialGC") || is_on("UseParallelGC"));
}

format::Result<std::monostate> StopInlineAllocation(const VmStructs& structs) {
  const auto libjvm = LibJvm::Locate();
  if (!libjvm.ok()) return libjvm.error();
  const std::string_view name = structs.BoolFlag("UseSerialGC").value_or(false) ? kOfSerial : kOfParallel;
  const auto symbols = SymbolTable::Load(*libjvm, std::array{name});
  if (!symbols.ok()) return symbols.error();
  const auto function = symbols->FindByPrefix(name);
  if (!function) return format::Error{symbols->origin() + ": no symbol CollectedHeap::supports_inline_contig_alloc"};
  auto slots = VtableSlots::Find(*libjvm, *function);
  if (!slots.ok()) return slots.error();
  if (slots->size() > kMaxSlots) return format::Error{libjvm->path + ": other functions have the same code"};
  return slots->Point(reinterpret_cast<uintptr_t>(&Refuses));
}

}  // namespace heaprec::hotspot
