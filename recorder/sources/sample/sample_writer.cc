#include "recorder/sources/sample/sample_writer.h"

#include <alloca.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/time.h"
#include "format/ring/content_keys.h"
#include "format/ring/ring_records.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/unwind/cfi_cache.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::sources {

using buffer::LaneLease;
using format::LossReason;
using format::RecordType;
using format::StackKey;

namespace {

template <typename Function>
uintptr_t AddressOf(Function* function) {
  return reinterpret_cast<uintptr_t>(function);
}

// One more frame, which shows whether the path is truncated.
constexpr size_t kLeafSideRoom = format::kLongestPath + 1;

// The space for one lease: the window, if it has just begun, new definitions, and the sample.
uint32_t RoomFor(size_t class_bytes, size_t thread_bytes, size_t frames) {
  const size_t stack = frames == 0 ? 0 : sizeof(format::StackRecord) + frames * sizeof(format::RingFrame);
  return static_cast<uint32_t>(sizeof(format::WindowRecord) + sizeof(format::ClassRecord) + class_bytes +
                               sizeof(format::ThreadRecord) + thread_bytes + stack + sizeof(format::SampleRecord) +
                               5 * format::kRecordAlign);
}

}  // namespace

// Only pages with rules are resident.
NativeCallers::NativeCallers()
    : rules_(static_cast<native::CfiCache*>(MapSparse(sizeof(native::CfiCache))),
             [](native::CfiCache* rules) { UnmapSparse(rules, sizeof *rules); }) {}

std::span<format::RingFrame> NativeCallers::Take(const JNIEnv* jni, Room* room) const {
  native::ModuleUnwindInfo jvm;
  native::ModuleUnwindInfo threads;
  if (rules_ == nullptr || !native::LookUpModule(AddressOf(jni->functions->NewByteArray), &jvm) ||
      !native::LookUpModule(AddressOf(&pthread_create), &threads)) {
    return {};
  }
  std::array<uintptr_t, kMost> addresses;
  const auto stack = std::span(addresses).first(native::UnwindFromHere(rules_.get(), addresses));
  const auto is_in = [](const native::ModuleUnwindInfo& module) {
    return [&module](uintptr_t address) { return address > module.begin && address <= module.end; };
  };
  const auto from = std::find_if_not(std::find_if(stack.begin(), stack.end(), is_in(jvm)), stack.end(), is_in(jvm));
  // One of the JVM's own threads: only thread-start functions have called it.
  if (from == stack.end() || is_in(threads)(*from)) return {};
  const auto to = std::transform(from, stack.end(), room->begin(), format::AddressFrame);
  return {room->begin(), to};
}

const format::CodeLocation& NativeCallers::NameOf(uint64_t return_address) {
  if (!symbols_.IsCurrent()) {
    symbols_.Refresh();
    rules_->Forget();
  }
  return symbols_.At(return_address);
}

SampleWriter::SampleWriter(buffer::Ring& ring, buffer::SharedCounters& shared_counters, WindowPublisher& windows,
                           const hotspot::Names& names, const hotspot::StackWalker* walker, const ThreadFields& fields,
                           int stack_depth, uint64_t first_id)
    : ring_(ring),
      shared_counters_(shared_counters),
      windows_(windows),
      names_(names),
      fields_(fields),
      buffers_(static_cast<size_t>(stack_depth)),
      next_id_(first_id),
      stack_capture_(walker, names) {}

void SampleWriter::Commit(const CallbackContext& context, const Point& point) {
  if (point.is_light) return CommitLight(context, point);
  const auto window = windows_.OnPoint(point.tally, MonotonicNs());
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  // All requests to the JVM come before the lease, because its transitions may wait for a safepoint.
  const StackBufferPool::Lease pooled(buffers_, context.lane_hint);
  auto* const memory =
      pooled.ok() ? pooled.memory() : static_cast<std::byte*>(alloca(StackBuffer::BytesFor(pooled.depth())));
  CapturedStack stack(StackBuffer(memory, pooled.depth()));
  std::optional<KnownStack> known;
  const bool is_taken = stack_capture_.Take(context.jvmti, context.java_thread, &stack);
  if (is_taken) known = stacks_.Find(stack.identity);
  const bool is_emitted = known && emitted_stacks_.Has(known->key.low, epoch);
  const bool is_brought = is_taken && (!is_emitted || stack.is_checked) &&
                          stack_capture_.ResolveFrames(context.jvmti, context.java_thread, &stack);
  ThreadIdentity identity;
  fields_.Read(context.jni, context.thread, &identity);
  ClassName class_name;
  ReadClassName(context, &class_name);
  Frames frames;
  std::optional<NativeCallers::Room> addresses;  // a kilobyte to clear, and rarely needed
  if (!is_taken) {
    frames = callers_.Take(context.jni, &addresses.emplace());
    stack.identity = format::KeyOfStack(frames, /*truncated=*/false);
  } else if (is_brought) {
    if (!known) windows_.OnNewStack();
    frames = stack.buffer.described.first(stack.frames.size() + (stack.is_cut ? 1 : 0));
    if (!DescribeFrames(stack, context.lane_hint, epoch, frames)) {
      return shared_counters_.Lost(LossReason::kRingFull, point.tally.weight);
    }
  }

  WeakRefReservation hold(tracked_, meter_, context.jni, context.object);
  const uint32_t room = RoomFor(class_name.text.size(), identity.name_bytes, frames.size());
  LaneLease lease(ring_, context.lane_hint, room);
  if (!lease.ok()) return shared_counters_.Lost(WhyNoLease(lease, room), point.tally.weight);
  if (window) (void)lease.Write(RecordType::kWindow, RecordOf(*window));
  uint64_t class_key = 0;
  uint64_t thread_key = 0;
  if (!is_brought && !is_emitted) known.reset();
  if ((!frames.empty() && !DefineStack(lease, stack, frames, /*truncated=*/false, &known)) ||
      !DefineClass(lease, class_name.text, epoch, &class_key) ||
      !DefineThread(lease, context.os_tid, identity, epoch, &thread_key) ||
      !WriteSample(lease, point, thread_key, class_key, known.value_or(KnownStack{}), &hold)) {
    return shared_counters_.Lost(LossReason::kRingFull, point.tally.weight);
  }
  if (!known) shared_counters_.Note(LossReason::kNoStack);
}

// Reads the clock only once, because that is a twentieth of the cost of a point.
void SampleWriter::CommitLight(const CallbackContext& context, const Point& point) {
  const auto lose = [&](LossReason loss) {
    (void)windows_.OnPoint(point.tally, MonotonicNs());
    shared_counters_.Lost(loss, point.tally.weight);
  };
  LaneLease::PrefetchRecord(ring_, context.lane_hint);
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  alignas(8) std::byte memory[StackBuffer::BytesFor(kLeafSideRoom)];
  CapturedStack stack(StackBuffer(memory, kLeafSideRoom));
  std::optional<KnownStack> known = TakePath(context, epoch, &stack);
  ClassName class_name;
  ReadClassName(context, &class_name);
  const bool is_truncated = std::exchange(stack.is_cut, false);
  Frames frames = stack.buffer.described.first(stack.frames.size());
  std::optional<NativeCallers::Room> addresses;  // a kilobyte to clear, and rarely needed
  if (!known && frames.empty()) {
    frames = callers_.Take(context.jni, &addresses.emplace());
    stack.identity = format::KeyOfStack(frames, /*truncated=*/false);
  } else if (!DescribeFrames(stack, context.lane_hint, epoch, frames)) {
    return lose(LossReason::kRingFull);
  }

  const uint32_t room = RoomFor(class_name.text.size(), 0, frames.size());
  LaneLease lease(ring_, context.lane_hint, room);
  if (!lease.ok()) return lose(WhyNoLease(lease, room));
  const uint64_t now_ns = MonotonicNs();  // read under the lease, so that a lane is in order of time
  if (const auto window = windows_.OnPoint(point.tally, now_ns))
    (void)lease.Write(RecordType::kWindow, RecordOf(*window));
  uint64_t class_key = 0;
  if ((!frames.empty() && !DefineStack(lease, stack, frames, is_truncated, &known)) ||
      !DefineClass(lease, class_name.text, epoch, &class_key) ||
      !WritePoint(lease, point, now_ns, class_key, known.value_or(KnownStack{}).key)) {
    shared_counters_.Lost(LossReason::kRingFull, point.tally.weight);
  }
}

// Most sites are in the first physical frame, so frames above it cause neither a walk nor a new identity.
std::optional<KnownStack> SampleWriter::TakePath(const CallbackContext& context, uint32_t epoch, CapturedStack* stack) {
  constexpr KnownStack kFartherAway{};
  for (const size_t physical : {size_t{1}, kLeafSideRoom}) {
    if (!stack_capture_.TakeLeafSide(context.jvmti, context.java_thread, physical, stack)) return std::nullopt;
    const std::optional<KnownStack> known = stacks_.Find(stack->identity);
    if (known == kFartherAway) continue;
    if (known && emitted_stacks_.Has(known->key.low, epoch)) {
      stack->frames = {};
      return known;
    }
    if (!stack_capture_.ResolveLeafSide(context.jvmti, context.java_thread, physical, stack)) return std::nullopt;
    const format::Path path = format::PathOf(stack->frames.size(), stack->is_cut, [&](size_t i) {
      hotspot::Names::MethodView view;
      return names_.Method(stack->frames[i].method, &view) && primitives_.HasMethod(view.class_name, view.name);
    });
    if (path.truncated && stack->is_walked && physical == 1) {
      stacks_.Store(stack->identity, kFartherAway);
      stack->frames = {};
      continue;
    }
    stack->frames = stack->frames.first(path.frames);
    stack->is_cut = path.truncated;
    return known;
  }
  return std::nullopt;
}

void SampleWriter::CommitWindow(const PublishedWindow& window, uint32_t lane_hint) {
  // If it fails, the window's samples still have their weights.
  (void)buffer::CommitRecord(ring_, lane_hint, RecordType::kWindow, RecordOf(window));
}

bool SampleWriter::CommitOutside(std::string_view class_name, uint64_t objects, uint64_t bytes, uint32_t lane_hint) {
  LaneLease lease(ring_, lane_hint, RoomFor(class_name.size(), 0, 0));
  uint64_t class_key = 0;
  if (!lease.ok() || !DefineClass(lease, class_name, epoch_.load(std::memory_order_relaxed), &class_key)) return false;
  return lease.Write(RecordType::kOutside,
                     format::PointRecord{{}, MonotonicNs(), class_key, {}, bytes, static_cast<double>(objects)});
}

LossReason SampleWriter::WhyNoLease(const LaneLease& lease, uint32_t room) const {
  if (!LaneLease::CanEverFit(ring_, room)) return LossReason::kOversized;
  return lease.found_busy_only() ? LossReason::kLanesBusy : LossReason::kRingFull;
}

bool SampleWriter::DescribeFrames(const CapturedStack& stack, uint32_t lane_hint, uint32_t epoch, Frames into) {
  size_t at = 0;
  for (const hotspot::MethodFrame& from : stack.frames) {
    if (stack.is_cut && !stack.is_deep && at == hotspot::FrameSelection::LeafSide(stack.room.size()))
      into[at++] = format::kGapFrame;
    if (!DescribeFrame(from, lane_hint, epoch, &into[at])) return false;
    ++at;
  }
  if (at < into.size()) into[at] = format::kGapFrame;  // there is no part near the root
  return true;
}

size_t SampleWriter::Describe(std::span<const hotspot::MethodFrame> frames, uint32_t lane_hint, Frames into) {
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  size_t count = 0;
  while (count < frames.size() && count < into.size() && DescribeFrame(frames[count], lane_hint, epoch, &into[count])) {
    ++count;
  }
  return count;
}

size_t SampleWriter::DescribeStack(jvmtiEnv* jvmti, uint32_t lane_hint, Frames into) {
  const size_t depth = std::min(into.size(), kMaxEventFrames) - 1;  // one for a gap
  alignas(8) std::byte memory[StackBuffer::BytesFor(kMaxEventFrames - 1)];
  CapturedStack stack(StackBuffer(memory, depth));
  StackCapture asked(/*walker=*/nullptr, names_);
  if (!asked.Take(jvmti, nullptr, &stack)) return 0;
  const Frames frames = into.first(stack.frames.size() + (stack.is_cut ? 1 : 0));
  return DescribeFrames(stack, lane_hint, epoch_.load(std::memory_order_relaxed), frames) ? frames.size() : 0;
}

// A stack comes right before its event, and the thread's and the class's definitions before both.
bool SampleWriter::CommitEvent(const Event& event, std::atomic<uint64_t>* next_id) {
  const std::string_view text = event.text.substr(0, format::kMaxEventTextBytes);
  const size_t name_bytes = event.thread != nullptr ? event.thread->name_bytes : 0;
  const size_t room = RoomFor(event.class_name.size(), name_bytes, event.frames.size()) + sizeof(format::EventRecord) +
                      format::kMaxEventTextBytes;
  LaneLease lease(ring_, event.os_tid, static_cast<uint32_t>(room));
  format::EventRecord record{};
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  if (!lease.ok() || !DefineClass(lease, event.class_name, epoch, &record.class_key)) return false;
  if (event.thread != nullptr && !DefineThread(lease, event.os_tid, *event.thread, epoch, &record.thread_key))
    return false;
  if (!event.frames.empty()) {
    record.stack_key = format::KeyOfStack(event.frames, /*truncated=*/false);
    if (!lease.WriteStack(record.stack_key, event.frames)) return false;
  }
  record.monotonic_ns = MonotonicNs();
  record.id = next_id->fetch_add(1, std::memory_order_relaxed);
  record.used = event.used;
  record.committed = event.committed;
  record.pauses = event.pauses;
  record.paused_ns = event.paused_ns;
  record.kind = static_cast<uint32_t>(event.kind);
  record.text_bytes = static_cast<uint32_t>(text.size());
  return lease.Write(RecordType::kEvent, record, text);
}

// Stacks have most of their frames in common.
bool SampleWriter::DescribeFrame(const hotspot::MethodFrame& from, uint32_t lane_hint, uint32_t epoch,
                                 format::RingFrame* into) {
  into->bci = static_cast<int32_t>(from.bci);
  into->type = from.type;
  if (from.code_key != 0) {
    if (const auto known = frames_.Find(from.code_key, epoch)) {
      into->method = known->method;
      into->line = known->line;
      return true;
    }
  }
  into->line = from.line != hotspot::MethodFrame::kNotRead ? from.line : names_.Line(from.method, into->bci);
  hotspot::Names::MethodView name;
  into->method = 0;
  if (!names_.Method(from.method, &name)) return true;  // a frame without a name is better than no stack
  if (!DefineMethod(name, lane_hint, epoch, &into->method)) return false;
  if (from.code_key != 0 && into->method != 0) frames_.Store(from.code_key, epoch, {into->method, into->line});
  return true;
}

// Each method gets its own lease: a deep stack of new methods could need more space at once than a lane has.
bool SampleWriter::DefineMethod(const hotspot::Names::MethodView& view, uint32_t lane_hint, uint32_t epoch,
                                uint64_t* key) {
  *key = 0;
  const size_t bytes =
      sizeof(format::MethodRecord) + view.class_name.size() + view.name.size() + view.descriptor.size();
  const auto room = static_cast<uint32_t>(bytes + format::kRecordAlign);
  if (!LaneLease::CanEverFit(ring_, room)) return true;
  *key = format::MethodKey(view.class_name, view.name, view.descriptor);
  if (methods_.Has(*key, epoch)) return true;
  const format::MethodRecord record{{},
                                    *key,
                                    static_cast<uint32_t>(view.class_name.size()),
                                    static_cast<uint16_t>(view.name.size()),
                                    static_cast<uint16_t>(view.descriptor.size())};
  if (!buffer::CommitRecord(ring_, lane_hint, RecordType::kMethod, record, view.class_name, view.name, view.descriptor))
    return false;
  methods_.Mark(*key, epoch);
  return true;
}

bool SampleWriter::DefineStack(LaneLease& lease, const CapturedStack& stack, Frames frames, bool truncated,
                               std::optional<KnownStack>* known) {
  const KnownStack defined{format::KeyOfStack(frames, truncated), format::CallPathKey(frames)};
  // Another stack has the same identity.
  if (stack.is_walked && *known && !(**known == defined)) stack_capture_.DistrustWalker();
  *known = defined;
  if (!lease.WriteStack(defined.key, frames, truncated)) return false;
  stacks_.Store(stack.identity, defined);
  return true;
}

void SampleWriter::ReadClassName(const CallbackContext& context, ClassName* into) const {
  const void* klass = names_.KlassOfMirror(context.jni, context.object_class);
  if (klass != nullptr) {
    into->text = names_.KlassName(klass);
    return;
  }
  // Under -Xcheck:jni the direct way is not available. The JVM allocates the signature; this only copies it.
  hotspot::JvmtiText signature(context.jvmti);
  context.jvmti->GetClassSignature(context.object_class, signature.out(), nullptr);
  std::string_view name(signature.c_str());
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  name = name.substr(0, sizeof(into->copy));
  std::memcpy(into->copy, name.data(), name.size());
  into->text = {into->copy, name.size()};
}

bool SampleWriter::DefineClass(LaneLease& lease, std::string_view name, uint32_t epoch, uint64_t* key) {
  *key = name.empty() ? 0 : format::ClassKey(name);
  if (*key == 0 || classes_.Has(*key, epoch)) return true;
  if (!lease.Write(RecordType::kClass, format::ClassRecord{{}, *key, static_cast<uint32_t>(name.size()), 0}, name))
    return false;
  classes_.Mark(*key, epoch);
  return true;
}

bool SampleWriter::DefineThread(LaneLease& lease, uint32_t os_tid, const ThreadIdentity& identity, uint32_t epoch,
                                uint64_t* key) {
  const std::string_view name = identity.Name();
  *key = format::ThreadKey(identity.java_tid, os_tid, identity.is_virtual, name);
  if (threads_.Has(*key, epoch)) return true;
  const format::ThreadRecord record{{},
                                    *key,
                                    identity.java_tid,
                                    os_tid,
                                    static_cast<uint16_t>(identity.is_virtual ? 1 : 0),
                                    static_cast<uint16_t>(name.size())};
  if (!lease.Write(RecordType::kThread, record, name)) return false;
  threads_.Mark(*key, epoch);
  return true;
}

bool SampleWriter::WriteSample(LaneLease& lease, const Point& point, uint64_t thread_key, uint64_t class_key,
                               const KnownStack& stack, WeakRefReservation* hold) {
  std::byte* record = lease.Reserve(RecordType::kSample, sizeof(format::SampleRecord));
  if (record == nullptr) return false;
  format::SampleRecord sample{};
  sample.monotonic_ns = MonotonicNs();  // read under the lease, so that a lane is in order of time
  sample.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  sample.thread_key = thread_key;
  sample.class_key = class_key;
  sample.stack_key = stack.key;
  sample.call_path = stack.call_path;
  sample.size = point.size;
  sample.tlab_size = point.tlab_size;
  sample.weight = point.weight;
  sample.point_weight = point.tally.weight;
  sample.window = point.window;
  sample.kind = static_cast<uint16_t>(point.kind);
  // Done before the sample is visible, so that a thread that drops it finds it in its entry.
  sample.tracking_index = hold->Track(sample.id);
  buffer::CopyFixed(record, sample);
  shared_counters_
      .Committed();  // counted before it is visible: a block never has more samples than its counters have committed
  lease.Commit();
  return true;
}

bool SampleWriter::WritePoint(LaneLease& lease, const Point& point, uint64_t now_ns, uint64_t class_key,
                              const StackKey& stack) {
  const format::PointRecord record{{}, now_ns, class_key, stack, point.size, point.tally.weight};
  if (!lease.Put(RecordType::kPoint, record)) return false;
  shared_counters_.Committed();  // counted first, as for a sample
  lease.Commit();
  return true;
}

}  // namespace heaprec::sources
