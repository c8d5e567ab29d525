#include "recorder/sources/capture.h"

#include <alloca.h>
#include <xxhash.h>

#include <cstring>

#include "format/ring_reader.h"
#include "recorder/sources/clock.h"

namespace heaprec::sources {

using buffer::LaneLease;
using format::Loss;
using format::RecordType;
using format::StackKey;

namespace {

// Room for a sample with its class and thread when the stack is known, and for a new stack of `frames` frames.
constexpr uint32_t kSampleRoom = 4096;
constexpr uint32_t kMethodRoom = 160;  // a usual method record: longer ones still fit, or are counted as ring_full
uint32_t StackRoom(int frames) {
  return kSampleRoom + static_cast<uint32_t>(frames) * (kMethodRoom + sizeof(format::RingFrame));
}

std::byte* Append(std::byte* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

template <typename Record>
void CopyFixed(std::byte* record, const Record& fields) {
  // The header was written by Reserve.
  std::memcpy(record + sizeof(format::RecordHeader),
              reinterpret_cast<const std::byte*>(&fields) + sizeof(format::RecordHeader),
              sizeof(Record) - sizeof(format::RecordHeader));
}

}  // namespace

Capture::Capture(buffer::Ring& ring, buffer::Ledger& ledger, WindowBoard& board, const hotspot::Names& names,
                 const ThreadFields& fields, int stack_depth)
    : ring_(ring), ledger_(ledger), board_(board), names_(names), fields_(fields), stack_depth_(stack_depth) {}

void Capture::Commit(const CallbackContext& context, const Point& point) {
  const auto window = board_.OnPoint({point.weight_bytes, point.effective_bytes}, MonotonicNs());
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  // All that the JVM has to be asked for comes before the lease: its transitions may wait for a safepoint.
  Stack stack{};
  stack.frames = static_cast<jvmtiFrameInfo*>(alloca(sizeof(jvmtiFrameInfo) * (stack_depth_ + 1)));
  StackKey stack_key{};
  const bool has_stack = TakeStack(context, &stack);
  const bool known = has_stack && stacks_.Find(stack.raw, epoch, &stack_key);
  ThreadIdentity identity;
  fields_.Read(context.jni, context.thread, &identity);
  ClassName class_name;
  ReadClassName(context, &class_name);

  LaneLease lease(ring_, context.lane_hint, known || !has_stack ? kSampleRoom : StackRoom(stack.count));
  if (!lease.ok())
    return ledger_.Lost(lease.found_busy_only() ? Loss::kLanesBusy : Loss::kRingFull, point.weight_bytes);
  if (window) WriteWindow(lease, *window);
  uint64_t class_key = 0;
  uint64_t thread_key = 0;
  if ((!known && has_stack && !DefineStack(lease, stack, epoch, &stack_key)) ||
      !DefineClass(lease, class_name.text, epoch, &class_key) ||
      !DefineThread(lease, context.os_tid, identity, epoch, &thread_key) ||
      !WriteSample(lease, point, thread_key, class_key, stack_key)) {
    return ledger_.Lost(Loss::kRingFull, point.weight_bytes);
  }
  if (!has_stack) ledger_.Note(Loss::kNoStack);
  ledger_.Committed();
}

void Capture::CommitWindow(const PublishedWindow& window, uint32_t lane_hint) {
  LaneLease lease(ring_, lane_hint, kSampleRoom);
  if (lease.ok()) WriteWindow(lease, window);  // without it the window's samples still carry their weights
}

bool Capture::TakeStack(const CallbackContext& context, Stack* stack) const {
  const jvmtiError error = context.jvmti->GetStackTrace(nullptr, 0, stack_depth_ + 1, stack->frames, &stack->count);
  if (error != JVMTI_ERROR_NONE || stack->count <= 0) return false;
  stack->truncated = stack->count > stack_depth_;
  if (stack->truncated) stack->count = stack_depth_;
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(stack->frames, sizeof(jvmtiFrameInfo) * stack->count, stack->truncated ? 1 : 0);
  stack->raw = {hash.low64, hash.high64};
  return true;
}

bool Capture::DefineStack(LaneLease& lease, const Stack& stack, uint32_t epoch, StackKey* key) {
  auto* frames = static_cast<format::RingFrame*>(alloca(sizeof(format::RingFrame) * stack.count));
  for (jint i = 0; i < stack.count; ++i) {
    const jvmtiFrameInfo& from = stack.frames[i];
    frames[i].bci = static_cast<int32_t>(from.location);
    frames[i].line = from.location < 0 ? -1 : names_.Line(from.method, static_cast<int>(from.location));
    if (!DefineMethod(lease, from.method, epoch, &frames[i].method)) return false;
  }
  const std::span<const format::RingFrame> content(frames, static_cast<size_t>(stack.count));
  *key = format::KeyOfStack(content, stack.truncated);
  std::byte* record = lease.Reserve(RecordType::kStack, sizeof(format::StackRecord) + content.size_bytes());
  if (record == nullptr) return false;
  CopyFixed(record, format::StackRecord{{}, *key, static_cast<uint32_t>(stack.count), stack.truncated ? 1u : 0u});
  std::memcpy(record + sizeof(format::StackRecord), frames, content.size_bytes());
  lease.Commit();
  stacks_.Store(stack.raw, epoch, *key);
  return true;
}

bool Capture::DefineMethod(LaneLease& lease, jmethodID method, uint32_t epoch, uint64_t* key) {
  hotspot::Names::MethodView view;
  *key = 0;
  if (!names_.Method(method, &view)) return true;  // a frame without a name is better than no stack
  *key = format::MethodKey(view.class_name, view.name, view.descriptor);
  if (methods_.Has(*key, epoch)) return true;
  const size_t bytes =
      sizeof(format::MethodRecord) + view.class_name.size() + view.name.size() + view.descriptor.size();
  std::byte* record = lease.Reserve(RecordType::kMethod, bytes);
  if (record == nullptr) return false;
  CopyFixed(record, format::MethodRecord{{},
                                         *key,
                                         static_cast<uint32_t>(view.class_name.size()),
                                         static_cast<uint16_t>(view.name.size()),
                                         static_cast<uint16_t>(view.descriptor.size())});
  Append(Append(Append(record + sizeof(format::MethodRecord), view.class_name), view.name), view.descriptor);
  lease.Commit();
  methods_.Mark(*key, epoch);
  return true;
}

void Capture::ReadClassName(const CallbackContext& context, ClassName* into) const {
  const void* klass = names_.KlassOfMirror(context.jni, context.object_class);
  if (klass != nullptr) {
    into->text = names_.KlassName(klass);
    return;
  }
  // Under -Xcheck:jni the short way is barred. The JVM allocates the signature; we only copy it.
  char* signature = nullptr;
  if (context.jvmti->GetClassSignature(context.object_class, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  std::string_view name(signature);
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  name = name.substr(0, sizeof(into->copy));
  std::memcpy(into->copy, name.data(), name.size());
  into->text = {into->copy, name.size()};
  context.jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

bool Capture::DefineClass(LaneLease& lease, std::string_view name, uint32_t epoch, uint64_t* key) {
  *key = name.empty() ? 0 : format::ClassKey(name);
  if (*key == 0 || classes_.Has(*key, epoch)) return true;
  std::byte* record = lease.Reserve(RecordType::kClass, sizeof(format::ClassRecord) + name.size());
  if (record == nullptr) return false;
  CopyFixed(record, format::ClassRecord{{}, *key, static_cast<uint32_t>(name.size()), 0});
  Append(record + sizeof(format::ClassRecord), name);
  lease.Commit();
  classes_.Mark(*key, epoch);
  return true;
}

bool Capture::DefineThread(LaneLease& lease, uint32_t os_tid, const ThreadIdentity& identity, uint32_t epoch,
                           uint64_t* key) {
  const std::string_view name = identity.Name();
  *key = format::ThreadKey(identity.java_tid, os_tid, identity.is_virtual, name);
  if (threads_.Has(*key, epoch)) return true;
  std::byte* record = lease.Reserve(RecordType::kThread, sizeof(format::ThreadRecord) + name.size());
  if (record == nullptr) return false;
  CopyFixed(record, format::ThreadRecord{{},
                                         *key,
                                         identity.java_tid,
                                         os_tid,
                                         static_cast<uint16_t>(identity.is_virtual ? 1 : 0),
                                         static_cast<uint16_t>(name.size())});
  Append(record + sizeof(format::ThreadRecord), name);
  lease.Commit();
  threads_.Mark(*key, epoch);
  return true;
}

void Capture::WriteWindow(LaneLease& lease, const PublishedWindow& window) {
  std::byte* record = lease.Reserve(RecordType::kWindow, sizeof(format::WindowRecord));
  if (record == nullptr) return;
  CopyFixed(record, format::WindowRecord{{}, window.start_ns, window.lambda, window.id, 0});
  lease.Commit();
}

bool Capture::WriteSample(LaneLease& lease, const Point& point, uint64_t thread_key, uint64_t class_key,
                          StackKey stack_key) {
  std::byte* record = lease.Reserve(RecordType::kSample, sizeof(format::SampleRecord));
  if (record == nullptr) return false;
  format::SampleRecord sample{};
  sample.monotonic_ns = MonotonicNs();  // under the lease: a lane is in order of time
  sample.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  sample.thread_key = thread_key;
  sample.class_key = class_key;
  sample.stack_key = stack_key;
  sample.size = point.size;
  sample.tlab_size = point.tlab_size;
  sample.weight_bytes = point.weight_bytes;
  sample.window = point.window;
  sample.kind = static_cast<uint32_t>(point.kind);
  CopyFixed(record, sample);
  lease.Commit();
  return true;
}

}  // namespace heaprec::sources
