// Captures the stack of the calling thread: walks it while the walker is reliable, otherwise calls GetStackTrace.
//
// Context:  alloc, inside a JVMTI callback. No heap, lock or I/O of ours. Usable, why: any.
// Threads:  any number.
// Failure:  Take returns false if there is no Java frame, or JVMTI returns none. After a walk that differs from
//           JVMTI's no stack is walked for a while, which is longer each time.
// Maths:    docs/decisions/0007: when walks are compared with JVMTI
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "format/ring/ring_records.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/sources/sample/stack_buffers.h"

namespace heaprec::sources {

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

  // Sets at least the identity.
  bool Take(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);
  // Sets the frames of a captured stack. May change its identity, if the walker is found to be wrong.
  bool ResolveFrames(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);

  // The same for the `physical` frames nearest to the allocation, if it walks. At most one frame less than the room has
  // is kept; is_cut if there may be more. These walks are neither counted nor compared.
  bool TakeLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical, CapturedStack* stack) const;
  bool ResolveLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical, CapturedStack* stack) const;

  // The walker is wrong, or two stacks had one identity.
  void DistrustWalker();

  // Stacks so far: walked; taken from JVMTI; walked, but different from JVMTI's.
  uint64_t walked() const { return walks_.load(std::memory_order_relaxed); }
  uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }
  uint64_t differed() const { return differed_.load(std::memory_order_relaxed); }

 private:
  bool MayWalk() const { return walker_ != nullptr && asked() >= walk_from_.load(std::memory_order_relaxed); }
  bool IsCheckDue();
  // Whether to include the frames nearest to the root of a stack that is cut.
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
  std::atomic<uint64_t> walk_from_{0};   // once so many stacks have come from JVMTI
  std::atomic<uint64_t> check_from_{0};  // the walk from which on the first ones are compared
};

}  // namespace heaprec::sources
