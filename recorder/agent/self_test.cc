#include "recorder/agent/self_test.h"

#include <fmt/format.h>

#include "recorder/sources/entry.h"
#include "recorder/sources/probe_source.h"

namespace heaprec::agent {
namespace {

// Larger than the part of a TLAB that may be wasted, so every collector takes the slow path for it.
constexpr jsize kArrayBytes = 1 << 20;
// An array's header: 16 bytes, or 24 without compressed class pointers; sizes are multiples of 8.
constexpr uint64_t kLeastHeader = 12, kMostHeader = 32;

class ActiveScope {
 public:
  explicit ActiveScope(sources::Source* source) { sources::active_source.store(source, std::memory_order_release); }
  ~ActiveScope() { sources::active_source.store(nullptr, std::memory_order_release); }
  ActiveScope(const ActiveScope&) = delete;
  ActiveScope& operator=(const ActiveScope&) = delete;
};

// Allocates one array; answers by how much A moved, 0 if the heap is too small for it.
uint64_t Allocate(const Jvm& jvm, JNIEnv* jni, void* java_thread) {
  const uint64_t before = jvm.layout.AllocatedBytes(java_thread);
  jbyteArray array = jni->NewByteArray(kArrayBytes);
  const uint64_t after = jvm.layout.AllocatedBytes(java_thread);
  if (array == nullptr) {
    jni->ExceptionClear();
    return 0;
  }
  jni->DeleteLocalRef(array);
  return after - before;
}

}  // namespace

format::Result<std::monostate> RunSelfTest(const Jvm& jvm, JNIEnv* jni) {
  void* const java_thread = jvm.thread_of(jni);
  // Static: a hook of another thread may be inside it when the scope ends.
  static auto* const probe = new sources::ProbeSource(jvm.layout);
  const ActiveScope active(probe);
  for (const bool force : {true, false}) {
    probe->Reset(java_thread, force);
    const uint64_t moved = Allocate(jvm, jni, java_thread);
    if (moved < kArrayBytes + kLeastHeader || moved > kArrayBytes + kMostHeader) {
      return format::Error{fmt::format("self-test: the thread's count moved by {} for 1 MiB", moved)};
    }
    if (probe->hook_size != moved) {
      return format::Error{
          fmt::format("self-test: the hooks saw {} bytes for an array of {}", probe->hook_size, moved)};
    }
    const uint64_t expected = force ? moved : 0;
    if (probe->delivered_size != expected) {
      return format::Error{fmt::format("self-test: the JVM delivered {} bytes where {} were due ({})",
                                       probe->delivered_size, expected, force ? "forced" : "far away")};
    }
  }
  return std::monostate{};
}

}  // namespace heaprec::agent
