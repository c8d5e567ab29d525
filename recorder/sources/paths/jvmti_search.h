// What holds the tracked objects, from the references that JVMTI reports: for collectors and JVMs whose heap the agent
// does not read itself (hotspot::HeapWalk).
//
// JVMTI follows references depth first and names no object. Within the pause its callback only notes each reference, by
// the addresses that lie beside the tags in memory of the JVM's own stack; it reads no object. After the pause these
// references are searched breadth first, so a chain is a shortest one among those that were noted. What an address is
// good for is checked with objects of the agent's own, by a chain that they are known to have.
//
// Memory:   at most `memory_bytes`: 8 bytes a reference and 16 an object during the pause, 60 an object after it.
// Units:    ns of CLOCK_MONOTONIC, bytes.
// Context:  an attached thread in native state.
// Failure:  an Error if nothing may be believed, or JVMTI refuses.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>

#include "base/result.h"
#include "recorder/sources/jvm/jvm.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/paths/path_set.h"

namespace heaprec::sources {

// Object[1] -> AtomicReference.value -> an object that nothing else holds. The first is a global reference, the last a
// weak one.
struct KnownChain {
  jobject first = nullptr;
  jweak last = nullptr;
};

struct JvmtiSearchLimits {
  uint64_t pause_ns;
  uint64_t memory_bytes;
};

// Finds the known chain, from its first object on. An Error says why JVMTI's references are of no use here.
Status TestJvmtiSearch(const Jvm& jvm, JNIEnv* jni, const KnownChain& known, const JvmtiSearchLimits& limits);

// `tracked`: the objects to find. Sets `is_final` if it fails in a way in which the next search would, too.
Result<FoundPaths> SearchByJvmti(const Jvm& jvm, JNIEnv* jni, WeakRefTable& tracked, const KnownChain& known,
                                 const JvmtiSearchLimits& limits, bool* is_final);

}  // namespace heaprec::sources
