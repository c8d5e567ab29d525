// Allocations that no hook and no event of the JVM reports: inline ones without TLABs, and stack chunks.
//
// With -XX:-UseTLAB, Serial and Parallel of JDKs before 20 let the interpreter, C1 and C2 increment eden's top inline
// (CollectedHeap::supports_inline_contig_alloc). Without that permission code takes the slow path for each object, as
// with the other collectors.
//
// Stack chunks, the objects into which HotSpot copies the stacks of virtual threads that yield, come from the TLAB
// without an event, or within a transition of the thread, for which JVMTI posts no event.
//
// Context:  setup.
// Failure:  an Error with the reason. The bytes of such objects are then counted, but the objects are never sampled.
// Why:      docs/decisions.md#16-inline-allocation-is-turned-off
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

// Prefixes of stackChunkOop Freeze<Config<oop_kind, BarrierSet>>::allocate_chunk(size_t stack_size, ...), JDK 21 and
// later. This JVM's collector and oops use one of them.
std::vector<std::string> StackChunkFunctions(const VmStructs& structs);

// Whether this JVM's generated code allocates inline in the heap.
bool AllocatesInline(const VmStructs& structs, const JdkRules& rules);

// Call in Agent_OnLoad, before any code is generated; holds for the life of the JVM.
Status StopInlineAllocation(const VmStructs& structs);

}  // namespace heaprec::hotspot
