// Reads, from outside, what the JVM knows of its heap: its own structures and the counters of its performance memory.
//
// Units:    bytes, ns.
// Context:  Resolve: setup, live phase. The rest: any, gc too: loads only.
// Threads:  any number. A value that the JVM changes meanwhile may be off by what was under way.
// Failure:  what this JVM does not tell (-XX:-UsePerfData, a collector whose structures are not exported) reads as 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recorder/hotspot/libjvm/symbols.h"
#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

class HeapMeter {
 public:
  // `gc` as Jvm::GcName has it. `symbols`: libjvm's; nullptr: there are none to be had.
  static HeapMeter Resolve(const VmStructs& structs, const SymbolTable* symbols, const std::string& gc);

  // For tests: a JVM that has the collector `gc`, this count of collections and this text as their cause, and no more.
  static HeapMeter OfSimulated(const std::string& gc, const uint32_t* collections, std::span<const char> cause);

  uint64_t Used() const;
  uint64_t Committed() const;
  uint32_t LiveThreads() const;
  // Collections since the JVM's start. It counts one when it begins. 0: this JVM does not tell (Shenandoah without
  // libjvm's symbols).
  uint64_t Collections() const;
  // Those of them that have certainly ended: an object that is still alive now has survived them. `paused_in`: what
  // Collections said as the last pause ended.
  uint64_t CollectionsEnded(uint64_t paused_in) const;
  // Of the collection under way, as HotSpot spells it: at most `size` bytes, the rest zeros; nothing where the
  // collector says it only after it has begun.
  void Cause(char* into, size_t size) const;
  // Likewise, or else of the last one.
  void LastCause(char* into, size_t size) const;

 private:
  // A space that is filled from its bottom: what lies between is used.
  struct Space {
    const char* const* holder;  // where the JVM keeps the pointer: young spaces change places
    size_t bottom, top;
  };
  void UseOrderOf(const std::string& gc);
  void UseStructs(const VmStructs& structs, const std::string& gc);
  void UseCounters(const VmStructs& structs);

  std::vector<Space> spaces_;
  const char* used_ = nullptr;         // a size_t
  const char* collections_ = nullptr;  // an unsigned int
  bool is_concurrent_ = false;         // a collection goes on beside the application
  bool counts_before_cause_ = false;   // it is counted before it has a cause
  // Of the performance memory.
  std::vector<const char*> used_of_spaces_, capacities_;
  const char* live_threads_ = nullptr;
  struct PerfText {
    const char* value = nullptr;
    size_t bytes = 0;
    // False: it says that there is none.
    bool CopyTo(char* into, size_t size) const;
  };
  PerfText cause_, last_cause_;
};

}  // namespace heaprec::hotspot
