// Keeps generated code from allocating in the heap itself where there are no TLABs.
//
// With -XX:-UseTLAB, Serial and Parallel of JDKs before 20 have the interpreter, C1 and C2 move eden's top inline
// (CollectedHeap::supports_inline_contig_alloc): no hook and no event of the JVM's sees such an object. Without that
// permission code takes the slow path for each object, as it does under the other collectors.
//
// Context:  setup.
// Failure:  an Error with the reason: such objects are counted by their bytes, and never sampled.
// Why:      docs/decisions/0016-inline-allocation-is-turned-off.md
#pragma once

#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

// Whether this JVM's generated code allocates inline in the heap.
bool AllocatesInline(const VmStructs& structs, const JdkRules& rules);

// In Agent_OnLoad, before any code is generated: for the life of the JVM.
format::Result<std::monostate> StopInlineAllocation(const VmStructs& structs);

}  // namespace heaprec::hotspot
