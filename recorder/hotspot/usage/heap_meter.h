// Reads the state of the heap from the JVM's structures and from the counters of its performance memory.
//
// Units:    bytes, ns.
// Context:  Resolve: setup, live phase. The others: any, also gc: loads only.
// Threads:  any number. A value that the JVM is changing may be slightly off.
// Failure:  values that this JVM does not have (-XX:-UsePerfData, a collector without exported structures) are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

// The JVM's performance memory: its counters by name. Their addresses do not change while the process lives.
//
// Context:  setup: live phase, when every counter of the collector exists.
// Failure:  no counter is visited if there is no such memory (-XX:-UsePerfData), or its layout differs.
struct PerfCounter {
  std::string_view name;
  const char* value = nullptr;
  size_t bytes = 0;      // size of the value: 8, or the maximum size of a text
  bool is_text = false;  // otherwise an int64
};

void ForEachPerfCounter(const VmStructs& structs, const std::function<void(const PerfCounter&)>& visit);

class HeapMeter {
 public:
  // `gc`: as returned by Jvm::GcName. `symbols`: libjvm's; nullptr: not available.
  static HeapMeter Resolve(const VmStructs& structs, const SymbolTable* symbols, const std::string& gc);

  // For tests: a JVM with only the collector `gc`, this count of collections and this cause.
  static HeapMeter ForTest(const std::string& gc, const uint32_t* collections, std::span<const char> cause);

  uint64_t Used() const;
  uint64_t Committed() const;
  uint32_t LiveThreads() const;
  // Collections since the JVM's start, counted when they begin. 0: unknown (Shenandoah without libjvm's symbols).
  uint64_t Collections() const;
  // Collections that have certainly ended, so that an object that is still live has survived them. `paused_in`: the
  // value of Collections when the latest pause ended.
  uint64_t CollectionsEnded(uint64_t paused_in) const;
  // How many of these also find dead objects in the old generation, counted when they begin: full collections and, for
  // G1, the remarks of concurrent cycles. nullopt: unknown, or the collector has no such generation.
  std::optional<uint64_t> OldCollections() const;
  // Copies the cause of the current collection, as HotSpot spells it: at most `size` bytes, the rest zeros. Copies
  // zeros if the collector sets the cause only after the beginning.
  void Cause(char* into, size_t size) const;
  // The same, or the cause of the last collection.
  void LastCause(char* into, size_t size) const;

 private:
  // A space that is filled from its bottom to its top.
  struct Space {
    const char* const* holder;  // address of the JVM's pointer, because young spaces are exchanged
    size_t bottom, top;
  };
  void UseOrderOf(const std::string& gc);
  void UseStructs(const VmStructs& structs, const std::string& gc);
  void UseCounters(const VmStructs& structs, const std::string& gc);

  std::vector<Space> spaces_;
  const char* used_ = nullptr;         // points to a size_t
  const char* collections_ = nullptr;  // points to an unsigned int
  bool is_concurrent_ = false;         // collections run concurrently with the application
  bool counts_before_cause_ = false;   // a collection is counted before it has a cause
  // Values in the performance memory.
  std::vector<const char*> used_of_spaces_, capacities_;
  const char* live_threads_ = nullptr;
  const char* full_collections_ = nullptr;
  const char* concurrent_pauses_ = nullptr;  // G1: two per cycle, remark and cleanup
  struct PerfText {
    const char* value = nullptr;
    size_t bytes = 0;
    // Returns false if there is no cause.
    bool CopyTo(char* into, size_t size) const;
  };
  PerfText cause_, last_cause_;
};

}  // namespace heaprec::hotspot
