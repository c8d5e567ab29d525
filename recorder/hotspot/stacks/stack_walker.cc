#include "recorder/hotspot/stacks/stack_walker.h"

#include <xxhash.h>

#include <array>
#include <cstring>

#include "recorder/arch/machine.h"

namespace heaprec::hotspot {

using format::FrameType;

namespace {

constexpr uintptr_t kWord = sizeof(void*);

bool IsSlot(uintptr_t address, uintptr_t low, uintptr_t base) {
  return address >= low && address < base && address % kWord == 0;
}

uintptr_t Slot(uintptr_t fp, int index) {
  return Load<uintptr_t>(fp + static_cast<uintptr_t>(static_cast<intptr_t>(index) * static_cast<intptr_t>(kWord)));
}

// A hash of any number of words in bounded memory: a full buffer is replaced by its hash.
class Identity {
 public:
  void Add(uint64_t word) {
    if (count_ == words_.size()) {
      const XXH128_hash_t hash = Hash();
      words_[0] = hash.low64;
      words_[1] = hash.high64;
      count_ = 2;
    }
    words_[count_++] = word;
  }
  XXH128_hash_t Hash() const { return XXH3_128bits(words_.data(), count_ * sizeof(uint64_t)); }

 private:
  std::array<uint64_t, 128> words_;
  size_t count_ = 0;
};

// Identifies a stack by its physical frames, without inlined ones, and at most `most` of them.
class IdentityVisitor {
 public:
  explicit IdentityVisitor(const Names& names, size_t most = SIZE_MAX) : names_(names), left_(most) {}

  // Uses what a recording contains of the frame, and no address: addresses of unloaded classes and redefined methods
  // are reused. The top bit distinguishes the two kinds of frames.
  bool OnInterpreted(const VmMethod* method, int bci) {
    Names::MethodView view;
    if (!names_.Method(method, &view)) return false;
    uint64_t text = XXH3_64bits(view.class_name.data(), view.class_name.size());
    text = XXH3_64bits_withSeed(view.name.data(), view.name.size(), text);
    text = XXH3_64bits_withSeed(view.descriptor.data(), view.descriptor.size(), text);
    words_.Add(uint64_t{1} << 63 | uint64_t{static_cast<uint32_t>(names_.Line(method, bci))} << 16 |
               static_cast<uint16_t>(bci));
    words_.Add(text);
    --left_;
    return true;
  }
  // A compilation's number is never reused, and what is inlined in its code never changes.
  bool OnCompiled(const CompiledMethod& code, uintptr_t pc, bool /*is_native*/) {
    words_.Add(uint64_t{code.compile_id()} << 32 | code.OffsetOf(pc));
    --left_;
    return true;
  }
  bool IsFull() const { return left_ == 0; }
  format::StackKey Key(WalkResult walked) const {
    const XXH128_hash_t hash = words_.Hash();
    // Differs from the identity of a whole stack with the same frames.
    return {hash.low64 ^ (walked == WalkResult::kDeep ? ~uint64_t{0} : 0), hash.high64};
  }

 private:
  const Names& names_;
  Identity words_;
  size_t left_;
};

// The keys of a compiled frame's methods, innermost first: the frame's identity and the index of the inlined method.
class Places {
 public:
  Places(const CompiledMethod& code, uintptr_t pc) : frame_(uint64_t{code.compile_id()} << 32 | code.OffsetOf(pc)) {
    if (code.OffsetOf(pc) > kMaxOffset) inlined_ = kMaxInlined;
  }
  uint64_t Next() { return inlined_ < kMaxInlined ? frame_ | inlined_++ << kOffsetBits : 0; }

 private:
  static constexpr uint64_t kOffsetBits = 22, kMaxOffset = (1 << kOffsetBits) - 1;
  static constexpr uint64_t kMaxInlined = 1 << (32 - kOffsetBits);
  const uint64_t frame_;
  uint64_t inlined_ = 0;
};

MethodFrame InterpretedFrame(const VmMethod* method, int bci) {
  return {method, 0, bci, bci < 0 ? FrameType::kNative : FrameType::kInterpreted};
}

// Passes all methods of a compiled frame to add(MethodFrame).
template <typename Add>
bool AddCompiled(const CompiledMethod& code, uintptr_t pc, bool is_native, const Add& add) {
  Places places(code, pc);
  if (is_native) return add({code.method(), places.Next(), -1, FrameType::kNative}), true;
  return code.ForEachScope(pc, [&](const VmMethod* method, int bci, bool is_inlined) {
    add({method, places.Next(), bci, is_inlined ? FrameType::kInlined : FrameType::kCompiled});
  });
}

// The stub through which Java calls a foreign function (java.lang.foreign).
bool IsForeignCall(const char* blob) { return blob != nullptr && std::strcmp(blob, "nep_invoker_blob") == 0; }

class ExpandingVisitor {
 public:
  explicit ExpandingVisitor(FrameSelection* frames) : frames_(frames) {}

  bool OnInterpreted(const VmMethod* method, int bci) {
    frames_->Add(InterpretedFrame(method, bci));
    return true;
  }
  bool OnCompiled(const CompiledMethod& code, uintptr_t pc, bool is_native) {
    return AddCompiled(code, pc, is_native, [this](const MethodFrame& frame) { frames_->Add(frame); });
  }
  bool IsFull() const { return false; }

 private:
  FrameSelection* const frames_;
};

class LeafSideVisitor {
 public:
  LeafSideVisitor(std::span<MethodFrame> room, size_t physical) : room_(room), left_(physical) {}

  bool OnInterpreted(const VmMethod* method, int bci) { return --left_, Add(InterpretedFrame(method, bci)), true; }
  bool OnCompiled(const CompiledMethod& code, uintptr_t pc, bool is_native) {
    --left_;
    return AddCompiled(code, pc, is_native, [this](const MethodFrame& frame) { Add(frame); });
  }
  bool IsFull() const { return count_ == room_.size() || left_ == 0; }
  std::span<MethodFrame> frames() const { return room_.first(count_); }

 private:
  void Add(const MethodFrame& frame) {
    if (count_ < room_.size()) room_[count_++] = frame;
  }

  const std::span<MethodFrame> room_;
  size_t left_, count_ = 0;
};

class LeafCodeVisitor {
 public:
  bool OnInterpreted(const VmMethod* /*method*/, int bci) {
    return code_ = bci < 0 ? FrameCode::kNative : FrameCode::kInterpreter, true;
  }
  bool OnCompiled(const CompiledMethod& code, uintptr_t /*pc*/, bool is_native) {
    constexpr int kHighestOfC1 = 3;
    code_ = is_native ? FrameCode::kNative : code.level() > kHighestOfC1 ? FrameCode::kC2 : FrameCode::kC1;
    return true;
  }
  bool IsFull() const { return code_ != FrameCode::kUnknown; }
  FrameCode code() const { return code_; }

 private:
  FrameCode code_ = FrameCode::kUnknown;
};

}  // namespace

Result<StackWalker> StackWalker::Resolve(const VmStructs& structs, const Names& names, const JdkRules& rules) {
  const auto layout = StackLayout::Resolve(structs, rules);
  if (!layout) return layout.error();
  return StackWalker(*layout, names);
}

// Returns false if there is no Java frame below. An anchor without a pc is at the position where a call pushed it.
bool StackWalker::FromAnchor(uintptr_t anchor, Registers* at) const {
  at->sp = Load<uintptr_t>(anchor + layout_.anchor.sp);
  if (at->sp == 0) return false;
  at->fp = Load<uintptr_t>(anchor + layout_.anchor.fp);
  at->pc = Load<uintptr_t>(anchor + layout_.anchor.pc);
  if (at->pc == 0) at->pc = arch::WithoutSignature(Load<uintptr_t>(at->sp - kWord));
  return true;
}

bool StackWalker::IsInNativeMethod(const void* java_thread) const {
  const auto thread = reinterpret_cast<uintptr_t>(java_thread);
  const auto base = Load<uintptr_t>(thread + layout_.thread.stack_base);
  const uintptr_t end = base - Load<uintptr_t>(thread + layout_.thread.stack_size);
  Registers at{};
  if (!FromAnchor(thread + layout_.thread.anchor, &at) || !IsSlot(at.sp, end, base)) return false;
  if (IsInterpreted(at.pc)) {
    if (!IsSlot(at.fp, at.sp, base - 2 * kWord)) return false;
    const auto* const method = reinterpret_cast<const VmMethod*>(  // NOLINTNEXTLINE(performance-no-int-to-ptr)
        Metadata(reinterpret_cast<const char*>(Slot(at.fp, arch::kInterpretedMethod))));
    return names_.CodeOf(method).begin != nullptr && names_.IsNative(method);
  }
  const char* const blob = cache_.Find(at.pc);
  if (blob == nullptr) return false;
  if (!CompiledMethod::Is(layout_, blob)) return IsForeignCall(Load<const char*>(blob + layout_.blob.name));
  const VmMethod* const method = CompiledMethod(layout_, blob).method();
  return method != nullptr && names_.IsNative(method) && !IsContinuationEntry(method);
}

template <typename Visitor>
WalkResult StackWalker::Walk(const void* java_thread, Visitor& visitor) const {
  const auto thread = reinterpret_cast<uintptr_t>(java_thread);
  const auto base = Load<uintptr_t>(thread + layout_.thread.stack_base);
  const uintptr_t end = base - Load<uintptr_t>(thread + layout_.thread.stack_size);
  Registers at{};
  if (!FromAnchor(thread + layout_.thread.anchor, &at)) return WalkResult::kNone;
  uintptr_t low = end;
  for (int frame = 0; frame < kMaxFrames && !visitor.IsFull(); ++frame) {
    // Each frame is above the previous one.
    if (!IsSlot(at.sp, low, base)) return WalkResult::kUnknown;
    low = at.sp + kWord;
    Step step = Step::kUnknown;
    if (IsInterpreted(at.pc))
      step = Interpreted(base, &at, visitor);
    else if (at.pc == layout_.call_stub_return)
      step = Entry(base, &at);
    else
      step = Compiled(base, &at, visitor);
    if (step == Step::kUnknown) return WalkResult::kUnknown;
    if (step == Step::kRoot) return WalkResult::kWhole;
  }
  return WalkResult::kDeep;
}

template <typename Visitor>
StackWalker::Step StackWalker::Interpreted(uintptr_t base, Registers* at, Visitor& visitor) const {
  const uintptr_t fp = at->fp;
  // Two words at fp: the link and the return address.
  if (!IsSlot(fp, at->sp, base - 2 * kWord)) return Step::kUnknown;
  const auto* const method = reinterpret_cast<const VmMethod*>(  // NOLINTNEXTLINE(performance-no-int-to-ptr)
      Metadata(reinterpret_cast<const char*>(Slot(fp, arch::kInterpretedMethod))));
  const Names::Code code = names_.CodeOf(method);
  if (code.begin == nullptr) return Step::kUnknown;
  int bci = -1;
  if (!names_.IsNative(method)) {
    const uintptr_t at_bytecode = Slot(fp, arch::kInterpretedBytecode) - reinterpret_cast<uintptr_t>(code.begin);
    if (at_bytecode >= code.size) return Step::kUnknown;
    bci = static_cast<int>(at_bytecode);
  }
  if (!visitor.OnInterpreted(method, bci)) return Step::kUnknown;
  *at = {Slot(fp, arch::kInterpretedSenderSp), Slot(fp, 0), arch::WithoutSignature(Slot(fp, 1))};
  if (arch::kInterpretedFramesOverlap && at->sp <= fp && IsInterpreted(at->pc)) at->sp = fp + 2 * kWord;
  return at->sp > fp ? Step::kCaller : Step::kUnknown;
}

// Native code that called Java: its wrapper contains the anchor of the Java frames below.
StackWalker::Step StackWalker::Entry(uintptr_t base, Registers* at) const {
  if (!IsSlot(at->fp, at->sp, base)) return Step::kUnknown;
  const uintptr_t wrapper = Slot(at->fp, arch::kEntryWrapper);
  if (!IsSlot(wrapper, at->fp, base)) return Step::kUnknown;
  const uintptr_t sp = at->sp;
  if (!FromAnchor(wrapper + layout_.wrapper_anchor, at)) return Step::kRoot;
  return at->sp > sp ? Step::kCaller : Step::kUnknown;
}

// Compiled methods, native wrappers, and the JVM's own stubs between them.
template <typename Visitor>
StackWalker::Step StackWalker::Compiled(uintptr_t base, Registers* at, Visitor& visitor) const {
  const char* const blob = cache_.Find(at->pc);
  if (blob == nullptr) return Step::kUnknown;
  const auto words = Load<int32_t>(blob + layout_.blob.frame_size);
  if (words <= 0) return Step::kUnknown;
  if (CompiledMethod::Is(layout_, blob)) {
    const CompiledMethod code(layout_, blob);
    const VmMethod* const method = code.method();
    if (method == nullptr) return Step::kUnknown;
    const bool is_native = names_.IsNative(method);
    if (is_native && IsContinuationEntry(method)) {
      // HotSpot's ContinuationEntry is at the frame's sp; its flags show whether it runs a virtual thread.
      constexpr uintptr_t kFlags = 3 * kWord;
      return Load<int32_t>(at->sp + kFlags) == 1 ? Step::kRoot : Step::kUnknown;
    }
    if (!visitor.OnCompiled(code, code.OriginalPc(at->pc, at->sp), is_native)) return Step::kUnknown;
  }
  const uintptr_t caller = at->sp + static_cast<uintptr_t>(words) * kWord;
  if (!IsSlot(caller, at->sp + kWord, base)) return Step::kUnknown;
  *at = {caller, Slot(caller, -2), arch::WithoutSignature(Slot(caller, -1))};
  return Step::kCaller;
}

bool StackWalker::IsContinuationEntry(const VmMethod* method) const {
  Names::MethodView view;
  return names_.Method(method, &view) && view.name == "enterSpecial" &&
         view.class_name == "jdk/internal/vm/Continuation";
}

WalkResult StackWalker::Identify(const void* java_thread, format::StackKey* identity) const {
  IdentityVisitor visitor(names_);
  const WalkResult walked = Walk(java_thread, visitor);
  *identity = visitor.Key(walked);
  return walked;
}

WalkResult StackWalker::IdentifyLeafSide(const void* java_thread, size_t physical, format::StackKey* identity) const {
  IdentityVisitor visitor(names_, physical);
  const WalkResult walked = Walk(java_thread, visitor);
  *identity = visitor.Key(walked);
  identity->high = ~identity->high;
  return walked;
}

WalkResult StackWalker::Expand(const void* java_thread, FrameSelection* frames) const {
  ExpandingVisitor visitor(frames);
  return Walk(java_thread, visitor);
}

FrameCode StackWalker::LeafCode(const void* java_thread) const {
  LeafCodeVisitor visitor;
  Walk(java_thread, visitor);
  return visitor.code();
}

std::span<MethodFrame> StackWalker::ExpandLeafSide(const void* java_thread, std::span<MethodFrame> room,
                                                   size_t physical) const {
  LeafSideVisitor visitor(room, physical);
  const WalkResult walked = Walk(java_thread, visitor);
  return walked == WalkResult::kUnknown ? std::span<MethodFrame>() : visitor.frames();
}

}  // namespace heaprec::hotspot
