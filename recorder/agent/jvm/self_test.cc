#include "recorder/agent/jvm/self_test.h"

#include <fmt/format.h>

#include <limits>

#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/source.h"

namespace heaprec::agent {
namespace {

// Small, so that an application whose heap is nearly full gets no OutOfMemoryError because of the test.
constexpr jsize kArrayBytes = 16 << 10;
// Most arrays fit into the rest of the thread's TLAB. After at most 16 MiB one does not: a TLAB has at most 4 MiB with
// G1's largest regions, or 8 MiB if the user requested that.
constexpr int kMaxArrays = 1024;
// An array's header: 16 bytes, or 24 without compressed class pointers; sizes are multiples of 8.
constexpr uint64_t kMinHeader = 12, kMaxHeader = 32;

// A few arrays further, and mostly inside the same TLAB.
constexpr uint64_t kArmedGap = 3 * kArrayBytes;

// Records what the hooks and the JVM deliver for one thread, and forces objects on request. Ignores other threads.
//
// Context:  as Source.
class SelfTestSource final : public sources::Source {
 public:
  explicit SelfTestSource(const hotspot::ThreadLayout& layout) : layout_(layout) {}
  void OnRefill(void* java_thread, uint64_t size) override { OnHook(java_thread, size, false); }
  void OnOutside(void* java_thread, uint64_t size) override { OnHook(java_thread, size, true); }
  void OnDelivered(const sources::Delivered& object) override;

  // Starts a step of the test on `java_thread`.
  void Reset(void* java_thread, bool force);

  uint64_t hook_size = 0, delivered_size = 0;  // of the last object seen; 0: none

 private:
  void OnHook(void* java_thread, uint64_t size, bool outside);
  const hotspot::ThreadLayout& layout_;
  bool force_ = false;
  void* java_thread_ = nullptr;
};

void SelfTestSource::Reset(void* java_thread, bool force) {
  java_thread_ = java_thread;
  force_ = force;
  hook_size = delivered_size = 0;
}

void SelfTestSource::OnHook(void* java_thread, uint64_t size, bool outside) {
  if (java_thread != java_thread_) return;
  hook_size = size;
  delivered_size = 0;  // earlier deliveries were not this object
  if (force_) {
    layout_.Force(java_thread);
  } else {
    layout_.ArmInHook(java_thread, std::numeric_limits<double>::infinity(), size, outside);
  }
}

void SelfTestSource::OnDelivered(const sources::Delivered& object) {
  if (object.java_thread != java_thread_) return;
  // The next slow path of this thread delivers an object.
  layout_.Force(object.java_thread);
  delivered_size = object.size;
}

class ActiveScope {
 public:
  explicit ActiveScope(sources::Source* source)
      : before_(sources::active_source.exchange(source, std::memory_order_acq_rel)) {}
  ~ActiveScope() { sources::active_source.store(before_, std::memory_order_release); }
  ActiveScope(const ActiveScope&) = delete;
  ActiveScope& operator=(const ActiveScope&) = delete;

 private:
  sources::Source* const before_;
};

// Allocates one array. Returns by how much A moved; 0 if the heap is too small for the array.
uint64_t Allocate(const sources::Jvm& jvm, JNIEnv* jni, void* java_thread) {
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

// Allocates one array; an Error if A did not move by its size.
Result<uint64_t> AllocateExactly(const sources::Jvm& jvm, JNIEnv* jni, void* java_thread) {
  const uint64_t moved = Allocate(jvm, jni, java_thread);
  if (moved >= kArrayBytes + kMinHeader && moved <= kArrayBytes + kMaxHeader) return moved;
  return Error{fmt::format("self-test: the thread's allocation counter advanced by {} for 16 KiB", moved)};
}

// Allocates until one array takes the slow path, and compares what the hook and the JVM reported for it.
Status RunStep(const sources::Jvm& jvm, JNIEnv* jni, SelfTestSource* probe, bool force) {
  void* const java_thread = jvm.thread_of(jni);
  probe->Reset(java_thread, force);
  for (int array = 0; array < kMaxArrays && probe->hook_size == 0; ++array) {
    auto moved = AllocateExactly(jvm, jni, java_thread);
    if (!moved.ok()) return moved.error();
    if (probe->hook_size != 0 && probe->hook_size != *moved) {
      return Error{
          fmt::format("self-test: the hooks reported {} bytes for an array of {} bytes", probe->hook_size, *moved)};
    }
  }
  if (probe->hook_size == 0) return Error{fmt::format("self-test: the hooks reported none of {} arrays", kMaxArrays)};
  const uint64_t due = force ? probe->hook_size : 0;
  if (probe->delivered_size == due) return {};
  return Error{fmt::format("self-test: the JVM delivered {} bytes instead of {} ({})", probe->delivered_size, due,
                           force ? "forced" : "far away")};
}

Status RunArmedStep(const sources::Jvm& jvm, JNIEnv* jni, SelfTestSource* probe, uint64_t gap) {
  void* const java_thread = jvm.thread_of(jni);
  probe->Reset(java_thread, /*force=*/false);
  jvm.layout.ArmAtRest(java_thread, static_cast<double>(gap));
  for (uint64_t passed = 0; passed <= gap;) {
    auto moved = AllocateExactly(jvm, jni, java_thread);
    if (!moved.ok()) return moved.error();
    passed += *moved;
    if (probe->delivered_size == *moved) return {};
    if (probe->delivered_size != 0) {
      return Error{
          fmt::format("self-test: the JVM delivered {} bytes for an array of {} bytes", probe->delivered_size, *moved)};
    }
  }
  return Error{fmt::format("self-test: the JVM delivered nothing at the armed byte ({})", gap)};
}

// Never deleted: a hook of another thread may be inside it when the scope ends.
SelfTestSource* Probe(const sources::Jvm& jvm) {
  static auto* const probe = new SelfTestSource(jvm.layout);
  return probe;
}

}  // namespace

Status TestHooks(const sources::Jvm& jvm, JNIEnv* jni) {
  auto* const probe = Probe(jvm);
  const ActiveScope active(probe);
  auto forced = RunStep(jvm, jni, probe, /*force=*/true);
  return forced.ok() ? RunStep(jvm, jni, probe, /*force=*/false) : forced;
}

Status TestThreshold(const sources::Jvm& jvm, JNIEnv* jni) {
  auto* const probe = Probe(jvm);
  const ActiveScope active(probe);
  auto now = RunArmedStep(jvm, jni, probe, 0);
  return now.ok() ? RunArmedStep(jvm, jni, probe, kArmedGap) : now;
}

}  // namespace heaprec::agent
