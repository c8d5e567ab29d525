// The stack of the calling Java thread, read from its own memory: no JVMTI, no safepoint, no lock, no heap.
//
// Units:    128-bit identities: the same for two stacks of the same frames, in this process. docs/decisions.md, 7
// Context:  setup: Resolve. The others: alloc; the calling thread is in native state, inside a JVMTI callback, so
//           nothing on its stack moves or is freed.
// Threads:  any, each on its own stack.
// Failure:  kUnknown if the stack cannot be walked: use JVMTI. kNone: there is no Java frame. kDeep: the root was not
//           reached within kMaxFrames, which bounds the cost of a walk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "format/model/model.h"
#include "format/ring/ring_records.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/compiled_method.h"
#include "recorder/hotspot/stacks/stack_layout.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

struct MethodFrame {
  const VmMethod* method;
  // Identifies method and bci as long as the process lives, even after unloading or redefinition; 0: no identity.
  uint64_t code_key = 0;
  int32_t bci = -1;  // -1: a native method
  format::FrameType type : 8 = format::FrameType::kUnknown;
  static constexpr int32_t kNotRead = -2;
  int32_t line : 24 = kNotRead;
  bool operator==(const MethodFrame& other) const { return method == other.method && bci == other.bci; }
};

// A stack that has just overflowed may contain hundreds of them.
static_assert(sizeof(MethodFrame) == 24);

// The frames that are kept of a stack that is deeper than requested: some nearest to the allocation, and the others
// nearest to the root, where a tree of stacks begins.
//
// Context:  any; the caller provides the memory.
// Format:   docs/format/recording.md#dictionaries
class FrameSelection {
 public:
  // Keeps at most room.size() >= 1 frames.
  explicit FrameSelection(std::span<MethodFrame> room) : room_(room), leaf_(LeafSide(room.size())) {}

  // Returns how many of `depth` frames are kept nearest to the allocation: a quarter, at least one.
  static size_t LeafSide(size_t depth) { return (depth + 3) / 4; }

  // Call with frames from innermost to outermost.
  void Add(const MethodFrame& frame) {
    const size_t ring = room_.size() - leaf_;
    if (seen_ < room_.size())
      room_[seen_] = frame;
    else if (ring > 0)
      room_[leaf_ + (seen_ - leaf_) % ring] = frame;
    ++seen_;
  }

  // Returns the kept frames, innermost first. Call once, after the last Add.
  std::span<MethodFrame> Finish() {
    const size_t ring = room_.size() - leaf_;
    if (is_cut() && ring > 0)
      std::rotate(room_.begin() + leaf_, room_.begin() + leaf_ + (seen_ - leaf_) % ring, room_.end());
    return room_.first(std::min(seen_, room_.size()));
  }
  bool is_cut() const { return seen_ > room_.size(); }
  // If is_cut: the missing frames are between this many frames and the rest.
  size_t leaf_side() const { return leaf_; }

 private:
  std::span<MethodFrame> room_;
  size_t leaf_;
  size_t seen_ = 0;
};

// What runs a frame. The numbers are those of heaprec_code in include/heaprec_sampling.h.
enum class FrameCode : uint8_t { kUnknown = 0, kInterpreter = 1, kC1 = 2, kC2 = 3, kNative = 4 };

enum class WalkResult : uint8_t { kWhole, kDeep, kNone, kUnknown };

class StackWalker {
 public:
  // Physical frames, including the JVM's stubs: about 10 us.
  static constexpr int kMaxFrames = 1024;

  static Result<StackWalker> Resolve(const VmStructs& structs, const Names& names, const JdkRules& rules);

  // Does not read which methods were inlined, and reads at most kMaxFrames frames. Stacks with the same identity have
  // the same methods, bcis and lines, even if code is unloaded, redefined or recompiled, and memory is reused.
  WalkResult Identify(const void* java_thread, format::StackKey* identity) const;

  // The same for the `physical` frames nearest to the allocation. Returns kDeep if there are more. The identity differs
  // from that of any whole stack.
  WalkResult IdentifyLeafSide(const void* java_thread, size_t physical, format::StackKey* identity) const;

  // Collects all frames, including inlined ones, like JVMTI's GetStackTrace.
  WalkResult Expand(const void* java_thread, FrameSelection* frames) const;

  // The same for only the frames nearest to the allocation: those in the `physical` nearest frames that fit into
  // `room`.
  std::span<MethodFrame> ExpandLeafSide(const void* java_thread, std::span<MethodFrame> room,
                                        size_t physical = SIZE_MAX) const;

  // Returns what runs the frame nearest to the allocation.
  FrameCode LeafCode(const void* java_thread) const;

  // Whether the top frame is a native method. Native code or the JVM, called by it, does not change the frames below.
  // If the thread has entered the JVM from Java code, its frames may be changing (deoptimization). Context: any of the
  // calling thread.
  bool IsInNativeMethod(const void* java_thread) const;

 private:
  struct Registers {
    uintptr_t sp, fp, pc;  // sp: at the call, before an adapter moved it
  };
  enum class Step : uint8_t { kCaller, kRoot, kUnknown };

  StackWalker(const StackLayout& layout, const Names& names) : layout_(layout), cache_(layout), names_(names) {}
  bool IsInterpreted(uintptr_t pc) const { return pc >= layout_.interpreter_begin && pc < layout_.interpreter_end; }
  bool FromAnchor(uintptr_t anchor, Registers* at) const;
  template <typename Visitor>
  WalkResult Walk(const void* java_thread, Visitor& visitor) const;
  template <typename Visitor>
  Step Interpreted(uintptr_t base, Registers* at, Visitor& visitor) const;
  template <typename Visitor>
  Step Compiled(uintptr_t base, Registers* at, Visitor& visitor) const;
  Step Entry(uintptr_t base, Registers* at) const;
  bool IsContinuationEntry(const VmMethod* method) const;

  StackLayout layout_;
  CodeCache cache_;
  Names names_;
};

}  // namespace heaprec::hotspot
