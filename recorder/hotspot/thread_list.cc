#include "recorder/hotspot/thread_list.h"

namespace heaprec::hotspot {

format::Result<ThreadList> ThreadList::Resolve(const VmStructs& structs) {
  void* const list = structs.Static("ThreadsSMRSupport", "_java_thread_list");
  const auto length = structs.Offset("ThreadsList", "_length");
  const auto threads = structs.Offset("ThreadsList", "_threads");
  if (list == nullptr || !length || !threads) return format::Error{"libjvm.so does not describe its list of threads"};
  ThreadList out;
  out.list_ = static_cast<const char* const volatile*>(list);
  out.length_ = *length;
  out.threads_ = *threads;
  return out;
}

}  // namespace heaprec::hotspot
