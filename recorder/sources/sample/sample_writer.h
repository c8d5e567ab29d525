// Turns a point into a committed sample: writes stack, names, thread and class to a lane, definitions before their use.
//
// Context:  alloc, inside a JVMTI callback (JNI and JVMTI may be called). Uses no heap, lock or I/O itself.
// Threads:  any number.
// Failure:  counted in the shared counters (LossReason::kLanesBusy, kRingFull, kOversized, kNoStack).
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "format/model/allocation_primitives.h"
#include "format/native/native_frames.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/sample/caches.h"
#include "recorder/sources/sample/stack_capture.h"
#include "recorder/sources/sample/thread_fields.h"
#include "recorder/sources/window_publisher.h"
#include "recorder/unwind/cfi_cache.h"
#include "recorder/unwind/symbolizer.h"

namespace heaprec::sources {

// Finds the native code that allocates through JNI on a thread without Java frames. The allocating thread reads its
// addresses; the drain names them.
//
// Context:  Take: alloc: no heap, no lock. NameOf: drain: it allocates and reads files.
// Threads:  Take: any number. NameOf: one.
// Failure:  Take returns nothing if the JVM allocates for itself, or there was no memory. A location without a module
//           is in no library.
class NativeCallers {
 public:
  static constexpr size_t kMost = 64;  // includes the frames of the agent and of the JVM, which are not recorded
  using Room = std::array<format::RingFrame, kMost>;

  NativeCallers();

  // Returns the addresses, innermost first.
  std::span<format::RingFrame> Take(const JNIEnv* jni, Room* room) const;
  const format::CodeLocation& NameOf(uint64_t return_address);

 private:
  const std::unique_ptr<native::CfiCache, void (*)(native::CfiCache*)> rules_;
  native::Symbolizer symbols_;
};

// A sample point that will be recorded or counted, before its stack is captured.
struct Point {
  format::Kind kind = format::Kind::kTlab;
  bool is_light = false;  // only counted
  uint64_t size = 0, tlab_size = 0;
  double weight = 0;  // after stage 1, in the unit of the stream; 0 for a light point
  // for the controller; `weight` is the point's weight among all points, including light ones
  throttle::PointSums tally{};
  uint32_t window = 0;
};

// The Java side of a JVMTI callback.
struct CallbackContext {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  const void* java_thread;
  jthread thread;
  jclass object_class;
  jobject object;  // object to track; null: none
  uint32_t os_tid;
  uint32_t lane_hint;
};

// One per stream of the recording.
class SampleWriter {
 public:
  // All arguments must outlive the SampleWriter. `names` reads methods and classes from the JVM's memory; walker: null
  // if stacks cannot be walked. Samples are numbered from `first_id`; ids are unique in the recording.
  SampleWriter(buffer::Ring& ring, buffer::SharedCounters& shared_counters, WindowPublisher& windows,
               const hotspot::Names& names, const hotspot::StackWalker* walker, const ThreadFields& fields,
               int stack_depth, uint64_t first_id = 1);

  // Prefetches what every Commit needs, while the caller decides on the point. Otherwise a point waits for each cache
  // line in turn, because the thread's allocations fill the caches between points.
  void Prefetch(uint32_t lane_hint) const {
    windows_.Prefetch();
    shared_counters_.Prefetch();
    buffer::LaneLease::PrefetchLane(ring_, lane_hint);
  }

  // Counts the outcome (committed or lost) in the shared counters; the caller counts the point itself. A light point
  // gets only a class and a path.
  void Commit(const CallbackContext& context, const Point& point);

  // Tracks sampled objects in this table from now on. Setup; the arguments must outlive the SampleWriter.
  void TrackIn(WeakRefTable* table, const hotspot::HeapMeter* meter) {
    tracked_ = table;
    meter_ = meter;
  }

  // Publishes a window that has begun, so that a salvager finds its parameters.
  void CommitWindow(const PublishedWindow& window, uint32_t lane_hint);

  // Commits the counts of a class outside of TLABs. Returns false without space.
  bool CommitOutside(std::string_view class_name, uint64_t objects, uint64_t bytes, uint32_t lane_hint);

  // Definitions emitted before this call are written again on their next use, because a new chunk begins.
  void NewEpoch() { epoch_.fetch_add(1, std::memory_order_relaxed); }
  // From now on, until the next epoch, samples need not include this stack's definition. Before, each sample includes
  // it, because most stacks belong to no sample that the second stage keeps. Context: drain.
  void MarkStackEmitted(const format::StackKey& key) {
    emitted_stacks_.Mark(key.low, epoch_.load(std::memory_order_relaxed));
  }

  // Converts Java frames for a stack that another component writes, and emits their methods. Returns how many frames,
  // from the innermost on, were converted: all, unless there was no space for a name. The methods must be on the stack
  // of the calling thread.
  size_t Describe(std::span<const hotspot::MethodFrame> frames, uint32_t lane_hint, std::span<format::RingFrame> into);

  // The stack of the calling thread as GetStackTrace returns it, for an event; its methods are emitted. Returns the
  // number of frames; 0: there are none, or there was no room. `into`: at most kMaxEventFrames.
  static constexpr size_t kMaxEventFrames = 64;
  size_t DescribeStack(jvmtiEnv* jvmti, uint32_t lane_hint, std::span<format::RingFrame> into);
  // Commits an event with its definitions; `id`s are counted by the caller. False: there was no room.
  struct Event {
    format::ProcessStateKind kind;
    uint64_t used = 0, committed = 0, pauses = 0, paused_ns = 0;
    std::string_view text{};        // is cut
    std::string_view class_name{};  // empty: none
    const ThreadIdentity* thread = nullptr;
    uint32_t os_tid = 0;
    std::span<const format::RingFrame> frames{};
  };
  bool CommitEvent(const Event& event, std::atomic<uint64_t>* next_id);
  // Emits a name for frames of events. Returns its key, 0 if it is too long; nullopt: there was no room.
  std::optional<uint64_t> DefineName(const hotspot::Names::MethodView& name, uint32_t lane_hint) {
    uint64_t key = 0;
    return DefineMethod(name, lane_hint, epoch_.load(std::memory_order_relaxed), &key) ? std::optional(key)
                                                                                       : std::nullopt;
  }

  const StackCapture& stacks() const { return stack_capture_; }
  // Names an address in the stack of a sample. Context: drain.
  const format::CodeLocation& NameOf(uint64_t return_address) { return callers_.NameOf(return_address); }

 private:
  using Frames = std::span<format::RingFrame>;
  struct ClassName {
    std::string_view text;
    char copy[512];
  };
  void CommitLight(const CallbackContext& context, const Point& point);
  // Returns the path of a light point, if it has one that is known. If the lanes do not contain it, also sets the
  // frames of the stack, and is_cut if the path is truncated.
  std::optional<KnownStack> TakePath(const CallbackContext& context, uint32_t epoch, CapturedStack* stack);
  void ReadClassName(const CallbackContext& context, ClassName* into) const;
  format::LossReason WhyNoLease(const buffer::LaneLease& lease, uint32_t room) const;
  // Each writes the definitions that the lanes do not contain. Returns false without space.
  bool DescribeFrames(const CapturedStack& stack, uint32_t lane_hint, uint32_t epoch, Frames into);
  bool DescribeFrame(const hotspot::MethodFrame& from, uint32_t lane_hint, uint32_t epoch, format::RingFrame* into);
  bool DefineMethod(const hotspot::Names::MethodView& view, uint32_t lane_hint, uint32_t epoch, uint64_t* key);
  bool DefineStack(buffer::LaneLease& lease, const CapturedStack& stack, Frames frames, bool truncated,
                   std::optional<KnownStack>* known);
  bool DefineClass(buffer::LaneLease& lease, std::string_view name, uint32_t epoch, uint64_t* key);
  bool DefineThread(buffer::LaneLease& lease, uint32_t os_tid, const ThreadIdentity& identity, uint32_t epoch,
                    uint64_t* key);
  bool WriteSample(buffer::LaneLease& lease, const Point& point, uint64_t thread_key, uint64_t class_key,
                   const KnownStack& stack, WeakRefReservation* hold);
  bool WritePoint(buffer::LaneLease& lease, const Point& point, uint64_t now_ns, uint64_t class_key,
                  const format::StackKey& stack);

  buffer::Ring& ring_;
  buffer::SharedCounters& shared_counters_;
  WindowPublisher& windows_;
  const hotspot::Names& names_;
  const ThreadFields& fields_;
  StackBufferPool buffers_;
  WeakRefTable* tracked_ = nullptr;
  const hotspot::HeapMeter* meter_ = nullptr;
  std::atomic<uint32_t> epoch_{1};
  std::atomic<uint64_t> next_id_;
  StackCapture stack_capture_;
  NativeCallers callers_;
  StackCache stacks_;
  FrameCache frames_;
  const format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  buffer::EmittedDefinitions<1 << 14> emitted_stacks_;
  buffer::EmittedDefinitions<1 << 14> methods_;
  buffer::EmittedDefinitions<1 << 12> classes_;
  buffer::EmittedDefinitions<1 << 12> threads_;
};

}  // namespace heaprec::sources
