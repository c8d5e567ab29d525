// Captures the stack of the calling thread: walks it while the walker is reliable, otherwise calls GetStackTrace.
//
// Context:  alloc, inside a JVMTI callback. heaprec itself uses no heap, lock or I/O.
// Threads:  any number.
// Failure:  Take returns false if there is no Java frame, or JVMTI returns none. After a walk that differs from
//           JVMTI's, no stack is walked for some time, which increases with each difference.
// Maths:    docs/decisions.md#7-stacks-are-walked: when walks are compared with JVMTI
#pragma once

#include <jvmti.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "format/ring/ring_records.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"

namespace heaprec::sources {

// Memory for the frames of one stack of up to `depth` frames while it is being recorded. Unused parts are not touched.
struct StackBuffer {
  // 80 bytes per frame.
  static constexpr size_t BytesFor(size_t depth) {
    return 2 * depth * sizeof(hotspot::MethodFrame) +
           (depth + 1) * (sizeof(jvmtiFrameInfo) + sizeof(format::RingFrame));
  }
  // `memory`: BytesFor(depth), aligned to 8.
  StackBuffer(std::byte* memory, size_t depth)
      : frames(reinterpret_cast<hotspot::MethodFrame*>(memory), depth),
        compared(frames.data() + depth, depth),
        asked(reinterpret_cast<jvmtiFrameInfo*>(compared.data() + depth), depth + 1),
        described(reinterpret_cast<format::RingFrame*>(asked.data() + depth + 1), depth + 1) {}

  std::span<hotspot::MethodFrame> frames;    // the frames of the stack
  std::span<hotspot::MethodFrame> compared;  // the same frames from JVMTI
  std::span<jvmtiFrameInfo> asked;           // JVMTI's result
  std::span<format::RingFrame> described;    // in the format of the ring, with a gap
};
static_assert(alignof(hotspot::MethodFrame) == 8 && alignof(jvmtiFrameInfo) == 8 && alignof(format::RingFrame) <= 8);

// Memory for StackBuffers of deep stacks.
//
// A native method may rely on 80 KiB of its thread's stack (HotSpot's StackShadowPages on x86-64), and the frames of
// a deep stack would use as much. Up to kMaxOnStack frames are on the allocating thread's own stack, more in a buffer
// of the pool. If all buffers are in use, only the frames that fit on the stack are recorded.
//
// Units:    frames.
// Context:  StackBufferPool: setup. Lease: alloc: no heap, no waiting for a lock.
// Threads:  any number of leases; each belongs to the thread that took it.
// Failure:  ok() is false: the pool is not needed, or has no free buffer.
class StackBufferPool {
 public:
  // 20 KiB on a thread's stack.
  static constexpr size_t kMaxOnStack = 256;

  // Makes buffers for stacks of `depth` frames; none if these fit on threads' stacks.
  explicit StackBufferPool(size_t depth) : depth_(depth) {
    if (depth <= kMaxOnStack) return;
    memory_.reset(new std::byte[kBuffers * StackBuffer::BytesFor(depth)]);  // pages are touched on first use
    in_use_ = std::vector<std::atomic<bool>>(kBuffers);
  }

  class Lease {
   public:
    // Tries buffers from `hint` on.
    Lease(StackBufferPool& pool, uint32_t hint) : pool_(pool) {
      const size_t count = pool.in_use_.size();
      for (size_t i = 0; i < count && !ok(); ++i) {
        const size_t index = (hint + i) % count;
        // Acquire: the previous thread has finished with it (pairs with the release in the destructor).
        if (!pool.in_use_[index].exchange(true, std::memory_order_acquire)) index_ = index;
      }
    }
    ~Lease() {
      if (ok()) pool_.in_use_[index_].store(false, std::memory_order_release);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    bool ok() const { return index_ != kNone; }
    // Maximum frames: in the buffer, or otherwise on the stack.
    size_t depth() const { return ok() ? pool_.depth_ : std::min(pool_.depth_, kMaxOnStack); }
    std::byte* memory() const { return pool_.memory_.get() + index_ * StackBuffer::BytesFor(pool_.depth_); }

   private:
    static constexpr size_t kNone = SIZE_MAX;
    StackBufferPool& pool_;
    size_t index_ = kNone;
  };

 private:
  // Up to 80 KiB each. A thread that waits for a safepoint in JVMTI keeps its buffer.
  static constexpr size_t kBuffers = 32;

  const size_t depth_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::atomic<bool>> in_use_;
};

// A captured stack.
struct CapturedStack {
  explicit CapturedStack(const StackBuffer& memory) : buffer(memory), room(memory.frames) {}

  StackBuffer buffer;
  std::span<hotspot::MethodFrame> room;          // maximum frames of a stack
  format::StackKey identity{};                   // of the whole stack, in this process
  std::span<const hotspot::MethodFrame> frames;  // innermost first; empty until they are resolved
  bool is_cut = false;                           // frames are missing after the first LeafSide(room.size()), ...
  bool is_deep = false;                          // ... or after the last: the root was not searched
  bool is_walked = false;
  bool is_checked = false;  // compare the frames, even if the identity is known
};

class StackCapture {
 public:
  // walker: null for none. Both must outlive this object.
  StackCapture(const hotspot::StackWalker* walker, const hotspot::Names& names) : walker_(walker), names_(names) {}

  // Sets the identity, and the frames if they are already known.
  bool Take(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);
  // Sets the frames of a captured stack. May change its identity, if the walker is found to be wrong.
  bool ResolveFrames(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);

  // The same for the `physical` frames nearest to the allocation, if it walks. Stores at most one frame fewer than
  // there is space for; is_cut if there may be more. These walks are neither counted nor compared.
  bool TakeLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical, CapturedStack* stack) const;
  bool ResolveLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical, CapturedStack* stack) const;

  // Call if the walker is wrong, or two stacks had the same identity.
  void DistrustWalker();

  // Stacks so far: walked; taken from JVMTI; walked, but different from JVMTI's.
  uint64_t walked() const { return walks_.load(std::memory_order_relaxed); }
  uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }
  uint64_t differed() const { return differed_.load(std::memory_order_relaxed); }

 private:
  bool MayWalk() const { return walker_ != nullptr && asked() >= walk_from_.load(std::memory_order_relaxed); }
  bool IsCheckDue();
  // Whether to include the frames nearest to the root of a truncated stack.
  enum class RootSide : uint8_t { kGive, kLeave, kIfNear };
  bool Ask(jvmtiEnv* jvmti, RootSide root_side, CapturedStack* stack) const;
  // Captures the stack for the recording with GetStackTrace.
  bool CaptureByJvmti(jvmtiEnv* jvmti, CapturedStack* stack);
  bool AskLeafSide(jvmtiEnv* jvmti, CapturedStack* stack) const;
  bool Walk(const void* java_thread, CapturedStack* stack) const;
  void Compare(jvmtiEnv* jvmti, CapturedStack* walked);
  bool Same(const hotspot::MethodFrame& walked, const hotspot::MethodFrame& asked) const;

  const hotspot::StackWalker* const walker_;
  const hotspot::Names& names_;
  std::atomic<uint64_t> walks_{0}, asked_{0}, differed_{0};
  std::atomic<uint64_t> walk_from_{0};   // the walker is disabled until this number of stacks have come from JVMTI
  std::atomic<uint64_t> check_from_{0};  // number of the walk from which on the first ones are compared
};

}  // namespace heaprec::sources
