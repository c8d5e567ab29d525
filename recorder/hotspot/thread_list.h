// All JavaThreads of the JVM, those that JVMTI hides included.
//
// Context:  setup: Resolve. ForEach: at a safepoint, where no thread comes or goes.
// Failure:  Resolve is an Error when libjvm does not describe its list of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/result.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

class ThreadList {
 public:
  static format::Result<ThreadList> Resolve(const VmStructs& structs);

  template <typename Visit>  // visit(void* java_thread)
  void ForEach(const Visit& visit) const {
    const char* const list = *list_;
    if (list == nullptr) return;
    const auto count = *reinterpret_cast<const uint32_t*>(list + length_);
    void* const* const threads = *reinterpret_cast<void* const* const*>(list + threads_);
    for (uint32_t i = 0; i < count; ++i) visit(threads[i]);
  }

 private:
  const char* const volatile* list_ = nullptr;
  size_t length_ = 0, threads_ = 0;
};

}  // namespace heaprec::hotspot
