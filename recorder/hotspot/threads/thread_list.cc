#include "recorder/hotspot/threads/thread_list.h"

namespace heaprec::hotspot {

format::Result<ThreadList> ThreadList::Resolve(const VmStructs& structs) {
  ThreadList out;
  void* list = structs.Static("ThreadsSMRSupport", "_java_thread_list");
  const auto length = structs.Offset("ThreadsList", "_length");
  const auto threads = structs.Offset("ThreadsList", "_threads");
  if (list != nullptr && length && threads) {
    out.length_ = *length;
    out.threads_ = *threads;
  } else {
    list = structs.Static("Threads", "_thread_list");
    out.next_ = structs.Offset("JavaThread", "_next");
    if (list == nullptr || !out.next_) return format::Error{"libjvm.so does not describe its list of threads"};
  }
  out.list_ = static_cast<char* const volatile*>(list);
  return out;
}

}  // namespace heaprec::hotspot
