// Reads what the JVM's own memory amounts to, by owner, with its limits: items of a snapshot's account.
//
// Context:  Resolve: setup, live phase. Read: drain; loads, and functions of the JVM that only load.
// Threads:  any number. A value that the JVM is changing may be slightly off.
// Failure:  an item that this JVM does not tell is "not known".
// Format:   docs/format/recording.md#account
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/model/process_account.h"
#include "recorder/hotspot/libjvm.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

class JvmMeter {
 public:
  // `gc` as Jvm::GcName. `symbols`: libjvm's; nullptr: not available.
  static JvmMeter Resolve(const VmStructs& structs, const SymbolTable* symbols, const std::string& gc);

  void Read(format::ProcessAccount* account) const;
  // Used bytes of the old generation; its counter is written at the end of a pause that collects.
  std::optional<uint64_t> OldUsed() const;
  std::optional<uint64_t> OldMax() const;
  // Pauses of concurrent cycles, which do not write that counter (G1).
  uint64_t ConcurrentPauses() const;

  // Addresses that are reserved for an owner; empty: not known.
  struct Range {
    uintptr_t begin = 0, end = 0;
    bool Holds(uintptr_t address) const { return begin <= address && address < end; }
  };
  Range heap() const { return heap_; }
  Range code() const { return code_; }

 private:
  using Function = size_t (*)();
  // Of the JVM's performance memory; null: there is none.
  using Counter = const char*;

  format::Amount Metaspace(Function words, Counter bytes) const;
  format::Amount CodeCommitted() const;

  std::vector<std::pair<format::AccountItem, format::Amount>> limits_;  // fixed
  Function metaspace_used_ = nullptr, metaspace_committed_ = nullptr;
  Function class_space_used_ = nullptr, class_space_committed_ = nullptr;
  Function code_max_ = nullptr, code_free_ = nullptr;
  Counter metaspace_used_then_ = nullptr, metaspace_committed_then_ = nullptr;  // at the last collection
  Counter class_space_used_then_ = nullptr, class_space_committed_then_ = nullptr;
  Counter old_used_ = nullptr, old_committed_ = nullptr, old_max_ = nullptr, concurrent_pauses_ = nullptr;
  Counter thread_starts_ = nullptr;
  std::vector<Counter> classes_, classes_gone_;
  std::vector<const char*> out_of_memory_errors_;  // ints
  const char* stack_overflow_errors_ = nullptr;
  Range heap_, code_;
  struct {
    const char* heaps = nullptr;  // GrowableArray<CodeHeap*>**
    size_t count = 0, list = 0, memory = 0, low = 0, high = 0;
  } code_heaps_;
};

}  // namespace heaprec::hotspot
