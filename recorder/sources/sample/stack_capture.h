// The stack of the calling thread: walked raw as long as that can be trusted, else asked of JVMTI.
//
// Context:  alloc, inside a JVMTI callback. No heap, lock or I/O of ours. Usable, why: any.
// Threads:  any number.
// Failure:  Take is false: there is no Java frame, or the JVM gives none. A walk that finds other frames than JVMTI is
//           the last one of this recording.
// Maths:    docs/decisions/0007: when walks are compared with JVMTI
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "format/ring/ring_records.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/frame_selection.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/sources/sample/stack_buffers.h"

namespace heaprec::sources {

// One stack on its way into a recording.
struct CapturedStack {
  explicit CapturedStack(const StackBuffer& memory) : buffer(memory), room(memory.frames) {}

  StackBuffer buffer;
  std::span<hotspot::MethodFrame> room;          // as many as a stack may keep
  format::StackKey identity{};                   // of the whole stack, in this process
  std::span<const hotspot::MethodFrame> frames;  // innermost first; empty until they are known
  bool is_cut = false;                           // frames are missing behind the first LeafSide(room.size()), ...
  bool is_deep = false;                          // ... or behind the last: nobody looked for the root
  bool is_walked = false;
  bool is_checked = false;  // look at the frames, even if the identity is known
};

class StackCapture {
 public:
  // walker: null for none. Both outlive the taker.
  StackCapture(const hotspot::StackWalker* walker, const hotspot::Names& names) : walker_(walker), names_(names) {}

  // Gives at least the identity.
  bool Take(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);
  // Gives the frames of a stack that was taken. May change its identity, where the walker is found to be wrong.
  bool ResolveFrames(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack);

  // The walker is wrong, or an identity stood for two stacks.
  void DisableWalker() {
    differed_.fetch_add(1, std::memory_order_relaxed);
    distrusted_.store(true, std::memory_order_relaxed);
  }
  bool distrusted() const { return distrusted_.load(std::memory_order_relaxed); }

  // Stacks so far: walked; asked of JVMTI instead; walked, but found to differ from what JVMTI says.
  uint64_t walked() const { return walks_.load(std::memory_order_relaxed); }
  uint64_t asked() const { return asked_.load(std::memory_order_relaxed); }
  uint64_t differed() const { return differed_.load(std::memory_order_relaxed); }

 private:
  bool IsCheckDue();
  // Of a stack that is cut: whether to give the frames nearest to the root.
  enum class RootSide : uint8_t { kGive, kLeave, kIfNear };
  bool Ask(jvmtiEnv* jvmti, RootSide root_side, CapturedStack* stack) const;
  // For the recording.
  bool AskInstead(jvmtiEnv* jvmti, CapturedStack* stack);
  bool Walk(const void* java_thread, CapturedStack* stack) const;
  void Compare(jvmtiEnv* jvmti, CapturedStack* walked);
  bool Same(const hotspot::MethodFrame& walked, const hotspot::MethodFrame& asked) const;

  const hotspot::StackWalker* const walker_;
  const hotspot::Names& names_;
  std::atomic<uint64_t> walks_{0}, asked_{0}, differed_{0};
  std::atomic<bool> distrusted_{false};
};

}  // namespace heaprec::sources
