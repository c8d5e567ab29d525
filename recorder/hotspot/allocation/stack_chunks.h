// Where HotSpot allocates stack chunks, the objects into which it copies the stacks of virtual threads that yield.
//
// It takes them from the TLAB without an event, or within a transition of the thread, for which JVMTI posts no event.
//
// Context:  setup.
#pragma once

#include <string>
#include <vector>

#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

// Prefixes of stackChunkOop Freeze<Config<oop_kind, BarrierSet>>::allocate_chunk(size_t stack_size, ...), JDK 21 and
// later. This JVM's collector and oops use one of them.
std::vector<std::string> StackChunkFunctions(const VmStructs& structs);

}  // namespace heaprec::hotspot
