// All JavaThreads of the JVM, including those that JVMTI hides.
//
// Context:  setup: Resolve. ForEach: at a safepoint, where no thread starts or ends.
// Failure:  Resolve returns an Error if libjvm does not describe its list of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "recorder/hotspot/libjvm/vm_structs.h"

namespace heaprec::hotspot {

class ThreadList {
 public:
  static format::Result<ThreadList> Resolve(const VmStructs& structs);

  template <typename Visit>  // visit(void* java_thread)
  void ForEach(const Visit& visit) const {
    char* const list = *list_;
    if (next_) return ForEachLinked(list, visit);
    if (list == nullptr) return;
    const auto count = *reinterpret_cast<const uint32_t*>(list + length_);
    void* const* const threads = *reinterpret_cast<void* const* const*>(list + threads_);
    for (uint32_t i = 0; i < count; ++i) visit(threads[i]);
  }

 private:
  template <typename Visit>
  void ForEachLinked(char* thread, const Visit& visit) const {
    for (; thread != nullptr; thread = *reinterpret_cast<char* const*>(thread + *next_)) visit(thread);
  }

  char* const volatile* list_ = nullptr;
  size_t length_ = 0, threads_ = 0;
  std::optional<size_t> next_;  // JDK 11: the threads are linked to one another, list_ is the first
};

}  // namespace heaprec::hotspot
