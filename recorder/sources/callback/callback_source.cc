#include "recorder/sources/callback/callback_source.h"

#include <jvmti.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/time.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
static_assert(sizeof(heaprec_frame) == sizeof(jvmtiFrameInfo));
static_assert(offsetof(heaprec_frame, location) == offsetof(jvmtiFrameInfo, location));

using hotspot::FrameCode;
static_assert(static_cast<int>(FrameCode::kUnknown) == HEAPREC_CODE_UNKNOWN);
static_assert(static_cast<int>(FrameCode::kInterpreter) == HEAPREC_CODE_INTERPRETER);
static_assert(static_cast<int>(FrameCode::kC1) == HEAPREC_CODE_C1);
static_assert(static_cast<int>(FrameCode::kC2) == HEAPREC_CODE_C2);
static_assert(static_cast<int>(FrameCode::kNative) == HEAPREC_CODE_NATIVE);

uint64_t DueAfter(uint64_t position, int64_t interval) {
  return interval > 0 ? position + static_cast<uint64_t>(interval) : kNever;
}

double GapTo(uint64_t due, uint64_t allocated) {
  if (due == kNever) return std::numeric_limits<double>::infinity();
  return throttle::Length(due - std::min(due, allocated));
}

}  // namespace

CallbackSource::CallbackSource(const CallbackSourceParts& parts, const heaprec_sampling& how)
    : parts_(parts),
      depth_(how.depth),
      started_ns_(MonotonicNs()),
      how_(Keep(how, nullptr)),
      tracked_(how.tracked, how.depth, parts.names) {}

CallbackSource::~CallbackSource() {
  for (const How* how = how_.load(); how != nullptr;) delete std::exchange(how, how->before);
}

const CallbackSource::How* CallbackSource::Keep(const heaprec_sampling& how, const How* before) {
  return new How{how.function, how.user, how.first_interval, before};
}

// The first distance is random: with equal distances either all short threads would be sampled or none.
uint64_t CallbackSource::First(const How& how) {
  if (how.first_interval >= 0) return static_cast<uint64_t>(how.first_interval);
  const uint64_t draw = draws_.fetch_add(1, std::memory_order_relaxed);
  throttle::Random random(throttle::Mix64(started_ns_ + draw));
  return static_cast<uint64_t>(std::ceil(random.Exponential() * -static_cast<double>(how.first_interval)));
}

void CallbackSource::Replace(const heaprec_sampling& how) {
  // Release: a thread that sees the pointer sees the data behind it.
  how_.store(Keep(how, how_.load(std::memory_order_relaxed)), std::memory_order_release);
}

void CallbackSource::OnRefill(void* java_thread, uint64_t size) { OnCandidate(java_thread, size, /*outside=*/false); }

void CallbackSource::OnOutside(void* java_thread, uint64_t size) { OnCandidate(java_thread, size, /*outside=*/true); }

void CallbackSource::OnCandidate(void* java_thread, uint64_t size, bool outside) {
  const uint64_t allocated = parts_.layout.AllocatedBytes(java_thread);
  ThreadEntry* const entry = Entry(java_thread, allocated, size);
  if (entry == nullptr) return;
  if (allocated >= entry->due) {
    entry->pending = outside ? Pending::kOutside : Pending::kRefill;
    return parts_.layout.Force(java_thread);
  }
  entry->pending = Pending::kNothing;
  parts_.layout.ArmInHook(java_thread, GapTo(entry->due, allocated), size, outside);
}

void CallbackSource::OnDelivered(const Delivered& object) {
  const uint64_t allocated = parts_.layout.AllocatedBytesInCallback(object.java_thread);
  ThreadEntry* const entry = Entry(object.java_thread, allocated, object.size);
  if (entry == nullptr) return;
  const bool outside = entry->pending == Pending::kOutside;
  entry->pending = Pending::kNothing;
  uint64_t now = allocated;
  if (allocated >= entry->due) {
    Give(object, allocated, *entry);
    // Reads again, because the callback may have allocated.
    now = std::max(allocated, parts_.layout.AllocatedBytesInCallback(object.java_thread));
  }
  parts_.layout.ArmInCallback(object.java_thread, GapTo(entry->due, now), outside);
}

ThreadEntry* CallbackSource::Entry(void* java_thread, uint64_t allocated, uint64_t size) {
  ThreadEntry* entry = parts_.threads.Find(java_thread);
  if (entry == nullptr) {
    if (parts_.threads.HasEnded(java_thread)) return nullptr;
    entry = parts_.threads.Acquire(java_thread);
    if (entry == nullptr) return nullptr;
  }
  const How* const how = how_.load(std::memory_order_acquire);
  if (entry->recording.load(std::memory_order_relaxed) != parts_.number) {
    entry->given_at = allocated - std::min(allocated, size);
    entry->due = entry->given_at + First(*how);
    entry->due_by = how;
    entry->pending = Pending::kNothing;
    entry->recording.store(parts_.number, std::memory_order_relaxed);
  } else {
    if (allocated < entry->given_at) {  // another thread at the address of an old one
      entry->due -= std::min(entry->due, entry->given_at - allocated);
      entry->given_at = allocated;
    }
    if (entry->due_by != how) {
      // The pending distance was drawn with the mean of the old function. Draws are memoryless, so a new one from this
      // position is correct; it does not include what the thread has allocated since the change.
      if (how->first_interval < 0) entry->due = allocated - std::min(allocated, size) + First(*how);
      entry->due_by = how;
    }
  }
  return entry;
}

void CallbackSource::Give(const Delivered& object, uint64_t allocated, ThreadEntry& entry) {
  const auto* const how = static_cast<const How*>(entry.due_by);
  jvmtiFrameInfo frames[HEAPREC_MAX_FRAMES];
  jint count = 0;
  if (object.jvmti->GetStackTrace(nullptr, 0, depth_, frames, &count) != JVMTI_ERROR_NONE) count = 0;
  const FrameCode code = parts_.walker != nullptr ? parts_.walker->LeafCode(object.java_thread) : FrameCode::kUnknown;
  ThreadIdentity identity;
  parts_.fields.Read(object.jni, object.thread, &identity);
  hotspot::JvmtiText signature(object.jvmti);
  object.jvmti->GetClassSignature(object.object_class, signature.out(), nullptr);
  heaprec_trace trace{sizeof(trace),
                      next_uid_.fetch_add(1, std::memory_order_relaxed),
                      static_cast<int64_t>(identity.java_tid),
                      signature.c_str(),
                      static_cast<int64_t>(object.size),
                      static_cast<int64_t>(allocated - entry.given_at),
                      reinterpret_cast<const heaprec_frame*>(frames),
                      count,
                      nullptr,
                      static_cast<int64_t>(MonotonicNs()),
                      0,
                      nullptr,
                      static_cast<int32_t>(code)};
  const heaprec_callback_env environment{object.jni, object.jvmti, object.object};
  entry.due = kNever;  // the callback's own allocations are not reported
  const int64_t interval = how->function(&trace, &environment, how->user);
  const uint64_t now = std::max(allocated, parts_.layout.AllocatedBytesInCallback(object.java_thread));
  entry.given_at = now;
  entry.due = DueAfter(now, interval);
  tracked_.Track(object.jvmti, object.jni, object.object, trace);
}

}  // namespace heaprec::sources
