#include "recorder/sources/callback/tracked_objects.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/time.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// Maximum number of entries in a table of `slots`, so that searches stay short.
constexpr size_t MostIn(size_t slots) { return slots / 8 * 7; }

// Entries to check per tracked object: twice as many as are added, so that dead objects free their entries.
constexpr size_t kLooks = 2;
// As in StackTraceElement.
constexpr int32_t kNativeLine = -2;

// Clears the flag, also after an exception.
struct Release {
  ~Release() { busy.clear(std::memory_order_release); }
  std::atomic_flag& busy;
};

}  // namespace

FrameNames::FrameNames(bool is_needed)
    : methods_(is_needed ? kMaxMethods : 1),
      frames_(is_needed ? kMaxFrames : 1),
      texts_(is_needed ? std::make_unique_for_overwrite<char[]>(kTextBytes) : nullptr) {}

size_t FrameNames::MethodSlot(const void* method) const {
  size_t slot = throttle::Mix64(reinterpret_cast<uintptr_t>(method)) % methods_.size();
  while (methods_[slot].id != nullptr && methods_[slot].id != method) slot = (slot + 1) % methods_.size();
  return slot;
}

size_t FrameNames::FrameSlot(const heaprec_frame& frame) const {
  const uint64_t key = reinterpret_cast<uintptr_t>(frame.method) * 31 + static_cast<uint64_t>(frame.location);
  size_t slot = throttle::Mix64(key) % frames_.size();
  while (frames_[slot].method != nullptr &&
         (frames_[slot].method != frame.method || frames_[slot].location != frame.location)) {
    slot = (slot + 1) % frames_.size();
  }
  return slot;
}

uint32_t FrameNames::Append(std::string_view text) {
  char* const at = texts_.get() + text_bytes_;
  std::memcpy(at, text.data(), text.size());
  at[text.size()] = '\0';
  text_bytes_ += text.size() + 1;
  return static_cast<uint32_t>(at - texts_.get());
}

void FrameNames::AddMethod(void* method, const Method& names) {
  const size_t bytes = names.class_name.size() + names.name.size() + names.file.size() + 3;
  if (texts_ == nullptr || method_count_ >= MostIn(kMaxMethods) || text_bytes_ + bytes > kTextBytes) return;
  KnownMethod& known = methods_[MethodSlot(method)];
  if (known.id != nullptr) return;
  known = {method, Append(names.class_name), Append(names.name), Append(names.file)};
  ++method_count_;
}

void FrameNames::Add(const heaprec_frame& frame, int32_t line) {
  if (frame_count_ >= MostIn(kMaxFrames) || texts_ == nullptr || !HasMethod(frame.method)) return;
  KnownFrame& known = frames_[FrameSlot(frame)];
  if (known.method != nullptr) return;
  known = {frame.method, frame.location, line};
  ++frame_count_;
}

heaprec_frame_name FrameNames::Find(const heaprec_frame& frame) const {
  const KnownFrame& known = frames_[FrameSlot(frame)];
  const KnownMethod& method = methods_[MethodSlot(frame.method)];
  if (known.method == nullptr || method.id == nullptr) return {nullptr, nullptr, nullptr, -1};
  const char* const texts = texts_.get();
  return {texts + method.class_name, texts + method.name, texts + method.file, known.line};
}

bool FrameNames::IsHalfFull() const {
  return frame_count_ > kMaxFrames / 2 || method_count_ > kMaxMethods / 2 || text_bytes_ > kTextBytes / 2;
}

void FrameNames::CopyFrom(const FrameNames& other, const heaprec_frame& frame) {
  const heaprec_frame_name names = other.Find(frame);
  if (names.class_name == nullptr) return;
  AddMethod(frame.method, {names.class_name, names.method_name, names.file_name});
  Add(frame, names.line);
}

TrackedObjects::TrackedObjects(int capacity, int depth, const hotspot::Names& names)
    : capacity_(static_cast<size_t>(capacity)),
      tracked_(Room(capacity_, depth)),
      recent_(Room(capacity > 0 ? HEAPREC_GARBAGE : 0, depth)),
      sampled_(Room(capacity > 0 ? HEAPREC_GARBAGE : 0, depth)),
      vm_names_(names),
      names_(/*is_needed=*/capacity > 0) {
  for (size_t i = capacity_; i > 0; --i) free_.push_back(i - 1);
}

std::vector<TrackedObjects::Trace> TrackedObjects::Room(size_t count, int depth) {
  std::vector<Trace> traces(count);
  for (Trace& trace : traces) trace.frames.resize(static_cast<size_t>(depth));
  return traces;
}

void TrackedObjects::Track(jvmtiEnv* jvmti, JNIEnv* jni, jobject object, const heaprec_trace& trace) {
  if (capacity_ == 0) return;
  if (busy_.test_and_set(std::memory_order_acquire)) {
    untracked_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Release release{busy_};
  if (is_cleared_) return;
  for (size_t i = 0; i < kLooks; ++i) Look(jni, next_look_++ % capacity_);
  bool failed = false;
  if (const Trace* const tracked = Put(jni, object, trace, &failed)) KeepNames(jvmti, jni, *tracked);
  if (failed) untracked_.fetch_add(1, std::memory_order_relaxed);
}

// Returns null if the object is not tracked.
TrackedObjects::Trace* TrackedObjects::Put(JNIEnv* jni, jobject object, const heaprec_trace& trace, bool* failed) {
  const size_t entry = FindFreeEntry();
  if (entry == capacity_) return nullptr;  // not selected
  Trace& into = tracked_[entry];
  if (into.object != nullptr) jni->DeleteWeakGlobalRef(std::exchange(into.object, nullptr));
  into.object = jni->NewWeakGlobalRef(object);
  if (into.object == nullptr) {
    jni->ExceptionClear();  // an OutOfMemoryError
    free_.push_back(entry);
    *failed = true;
    return nullptr;
  }
  Copy(trace, &into);
  return &into;
}

void TrackedObjects::KeepNames(jvmtiEnv* jvmti, JNIEnv* jni, const Trace& trace) {
  for (int32_t i = 0; i < trace.fields.frame_count; ++i) {
    const heaprec_frame& frame = trace.frames[static_cast<size_t>(i)];
    if (names_.Has(frame)) continue;
    if (!names_.HasMethod(frame.method)) KeepMethod(jvmti, jni, frame.method);
    const auto bci = static_cast<int>(frame.location);
    names_.Add(frame, bci < 0 ? kNativeLine : vm_names_.Line(static_cast<jmethodID>(frame.method), bci));
  }
}

void TrackedObjects::KeepMethod(jvmtiEnv* jvmti, JNIEnv* jni, void* method) {
  const auto id = static_cast<jmethodID>(method);
  hotspot::Names::MethodView view;
  if (!vm_names_.Method(id, &view)) return;
  jclass type = nullptr;
  hotspot::JvmtiText file(jvmti);
  if (jvmti->GetMethodDeclaringClass(id, &type) == JVMTI_ERROR_NONE && type != nullptr) {
    jvmti->GetSourceFileName(type, file.out());
    jni->DeleteLocalRef(type);
  }
  names_.AddMethod(method, {view.class_name, view.name, file.c_str()});
}

// Classes are unloaded with their methods: removes the names of methods that no trace refers to.
void TrackedObjects::ForgetNames() {
  if (!names_.IsHalfFull()) return;
  names_.Retain([this](const auto& keep) {
    for (const std::vector<Trace>* const traces : {&tracked_, &recent_, &sampled_}) {
      for (const Trace& trace : *traces) {
        for (int32_t i = 0; i < trace.fields.frame_count; ++i) keep(trace.frames[static_cast<size_t>(i)]);
      }
    }
  });
}

// Returns a free entry, or one whose object is replaced; capacity_: the new object is not tracked.
size_t TrackedObjects::FindFreeEntry() {
  ++seen_;
  if (!free_.empty()) {
    const size_t entry = free_.back();
    free_.pop_back();
    return entry;
  }
  const auto drawn = static_cast<uint64_t>(random_.Uniform() * static_cast<double>(seen_));
  return drawn < capacity_ ? static_cast<size_t>(drawn) : capacity_;
}

void TrackedObjects::Look(JNIEnv* jni, size_t index) {
  Trace& trace = tracked_[index];
  if (trace.object == nullptr || jni->IsSameObject(trace.object, nullptr) == JNI_FALSE) return;
  jni->DeleteWeakGlobalRef(std::exchange(trace.object, nullptr));
  MarkDead(trace);
  free_.push_back(index);
}

void TrackedObjects::MarkDead(Trace& dead) {
  ++found_dead_;
  dead.fields.dead_ns = static_cast<int64_t>(MonotonicNs());
  Copy(dead.fields, &recent_[(found_dead_ - 1) % HEAPREC_GARBAGE]);
  if (found_dead_ <= HEAPREC_GARBAGE) return Copy(dead.fields, &sampled_[found_dead_ - 1]);
  const auto drawn = static_cast<uint64_t>(random_.Uniform() * static_cast<double>(found_dead_));
  if (drawn < HEAPREC_GARBAGE) Copy(dead.fields, &sampled_[drawn]);
}

void TrackedObjects::Copy(const heaprec_trace& from, Trace* into) {
  into->fields = from;
  const size_t bytes = std::min(strlen(from.class_signature), kSignatureBytes - 1);
  std::memmove(into->signature, from.class_signature, bytes);
  into->signature[bytes] = 0;
  into->fields.class_signature = into->signature;
  const auto count = std::min(static_cast<size_t>(from.frame_count), into->frames.size());
  std::copy_n(from.frames, count, into->frames.begin());
  into->fields.frames = into->frames.data();
  into->fields.frame_count = static_cast<int32_t>(count);
}

int64_t TrackedObjects::ForEach(JNIEnv* jni, int which, heaprec_visit visit, void* user) {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  const Release release{busy_};
  for (size_t i = 0; i < capacity_; ++i) Look(jni, i);
  ForgetNames();
  int64_t count = 0;
  std::vector<heaprec_frame_name> names;
  const auto give = [&](const Trace& trace) {
    names.clear();
    for (int32_t i = 0; i < trace.fields.frame_count; ++i) {
      names.push_back(names_.Find(trace.frames[static_cast<size_t>(i)]));
    }
    heaprec_trace given = trace.fields;
    given.names = names.data();
    visit(&given, user);
    ++count;
  };
  const uint64_t garbage = std::min<uint64_t>(found_dead_, recent_.size());
  for (const Trace& trace : tracked_) {
    if (which == HEAPREC_LIVE && trace.object != nullptr) give(trace);
  }
  for (uint64_t i = 0; which == HEAPREC_RECENT_GARBAGE && i < garbage; ++i) {
    give(recent_[(found_dead_ - 1 - i) % HEAPREC_GARBAGE]);
  }
  for (uint64_t i = 0; which == HEAPREC_SAMPLED_GARBAGE && i < garbage; ++i) give(sampled_[i]);
  return count;
}

void TrackedObjects::Clear(JNIEnv* jni) {
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  is_cleared_ = true;
  for (size_t i = 0; i < capacity_; ++i) {
    Trace& trace = tracked_[i];
    if (trace.object == nullptr) continue;
    jni->DeleteWeakGlobalRef(std::exchange(trace.object, nullptr));
    free_.push_back(i);
  }
  busy_.clear(std::memory_order_release);
}

}  // namespace heaprec::sources
