#include "recorder/sources/sample/stack_capture.h"

#include <xxhash.h>

#include <algorithm>

namespace heaprec::sources {

using hotspot::FrameSelection;
using hotspot::MethodFrame;
using hotspot::Names;
using hotspot::WalkResult;

namespace {

// Compares all of the first walks, and a fraction of the later ones. If the walker was found to be wrong, it is
// disabled for some stacks, then for twice as many, and its first walks afterwards are all compared.
constexpr uint64_t kFirstChecks = 100;
constexpr uint64_t kCheckEvery = 1024;
constexpr uint64_t kFirstRest = 1024, kMostRests = 10;

// Frames of the thread from `start` on; a negative start counts from the root.
jint FramesOf(jvmtiEnv* jvmti, jint start, jint most, jvmtiFrameInfo* into) {
  jint count = 0;
  return jvmti->GetStackTrace(nullptr, start, most, into, &count) == JVMTI_ERROR_NONE ? count : 0;
}

}  // namespace

bool StackCapture::IsCheckDue() {
  const uint64_t walk = walks_.fetch_add(1, std::memory_order_relaxed);
  return walk - check_from_.load(std::memory_order_relaxed) < kFirstChecks || walk % kCheckEvery == 0;
}

void StackCapture::DistrustWalker() {
  const uint64_t before = differed_.fetch_add(1, std::memory_order_relaxed);
  check_from_.store(walked(), std::memory_order_relaxed);
  walk_from_.store(asked() + (kFirstRest << std::min(before, kMostRests)), std::memory_order_relaxed);
}

bool StackCapture::Take(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack) {
  if (MayWalk()) {
    const WalkResult walked = walker_->Identify(java_thread, &stack->identity);
    if (walked == WalkResult::kNone) return false;
    stack->identity.low ^= stack->room.size();  // truncated at another depth, it is another stack
    stack->is_walked = walked != WalkResult::kUnknown;
    stack->is_deep = walked == WalkResult::kDeep;
  }
  if (!stack->is_walked) return CaptureByJvmti(jvmti, stack);
  stack->is_checked = IsCheckDue();
  return true;
}

bool StackCapture::ResolveFrames(jvmtiEnv* jvmti, const void* java_thread, CapturedStack* stack) {
  if (!stack->is_walked) return true;
  if (!Walk(java_thread, stack)) {
    stack->is_walked = false;
    return CaptureByJvmti(jvmti, stack);
  }
  if (stack->is_checked) Compare(jvmti, stack);
  return true;
}

bool StackCapture::TakeLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical, CapturedStack* stack) const {
  if (MayWalk()) {
    const WalkResult walked = walker_->IdentifyLeafSide(java_thread, physical, &stack->identity);
    if (walked == WalkResult::kNone) return false;
    stack->is_walked = walked != WalkResult::kUnknown;
  }
  return stack->is_walked || AskLeafSide(jvmti, stack);
}

bool StackCapture::ResolveLeafSide(jvmtiEnv* jvmti, const void* java_thread, size_t physical,
                                   CapturedStack* stack) const {
  if (!stack->is_walked) return true;
  const std::span<MethodFrame> frames = walker_->ExpandLeafSide(java_thread, stack->room, physical);
  stack->is_walked = !frames.empty();
  if (frames.empty()) return AskLeafSide(jvmti, stack);
  stack->frames = frames.first(std::min(frames.size(), stack->room.size() - 1));
  stack->is_cut = frames.size() == stack->room.size() || physical < stack->room.size();
  return true;
}

// Requests one frame more than there is space for.
bool StackCapture::AskLeafSide(jvmtiEnv* jvmti, CapturedStack* stack) const {
  stack->room = stack->room.first(stack->room.size() - 1);
  if (!Ask(jvmti, RootSide::kLeave, stack)) return false;
  // as for a walk: a path differs from a whole stack, even with the same frames
  stack->identity.high = ~stack->identity.high;
  return true;
}

bool StackCapture::Walk(const void* java_thread, CapturedStack* stack) const {
  if (stack->is_deep) {
    stack->frames = walker_->ExpandLeafSide(java_thread, stack->room);
    stack->is_cut = true;
    return !stack->frames.empty();
  }
  FrameSelection selection(stack->room);
  if (walker_->Expand(java_thread, &selection) != WalkResult::kWhole) return false;
  stack->frames = selection.Finish();
  stack->is_cut = selection.is_cut();
  return true;
}

bool StackCapture::CaptureByJvmti(jvmtiEnv* jvmti, CapturedStack* stack) {
  if (!Ask(jvmti, RootSide::kIfNear, stack)) return false;
  asked_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Captures by JVMTI. Omits the same frames of a deep stack as FrameSelection; if the root is too far away, all frames
// beyond the leaf side, like a walk that stopped there: for the root the JVM would walk all frames, twice.
bool StackCapture::Ask(jvmtiEnv* jvmti, RootSide root_side, CapturedStack* stack) const {
  const size_t most = stack->room.size();
  jvmtiFrameInfo* const frames = stack->buffer.asked.data();
  auto count = static_cast<size_t>(FramesOf(jvmti, 0, static_cast<jint>(most) + 1, frames));
  if (count == 0) return false;
  stack->is_cut = count > most;
  stack->is_deep =
      stack->is_cut &&
      (root_side == RootSide::kLeave ||
       (root_side == RootSide::kIfNear && FramesOf(jvmti, hotspot::StackWalker::kMaxFrames, 1, frames + most) != 0));
  if (stack->is_deep) {
    count = most;
  } else if (stack->is_cut) {
    const size_t leaf = FrameSelection::LeafSide(most);
    const auto root = static_cast<jint>(most - leaf);
    count = leaf + static_cast<size_t>(root > 0 ? FramesOf(jvmti, -root, root, frames + leaf) : 0);
  }
  // A jmethodID is never reused, but refers to the method's newest version: the line shows which version it was.
  std::transform(frames, frames + count, stack->room.begin(), [this](jvmtiFrameInfo& frame) {
    MethodFrame read{names_.MethodOf(frame.method), 0, static_cast<int32_t>(frame.location)};
    read.line = names_.Line(read.method, read.bci);
    frame.location = static_cast<jlocation>(static_cast<uint64_t>(read.line) << 32 | static_cast<uint32_t>(read.bci));
    return read;
  });
  stack->frames = stack->room.first(count);
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(frames, sizeof(jvmtiFrameInfo) * count, (stack->is_cut ? 1 : 0) + (stack->is_deep ? 1 : 0));
  stack->identity = {hash.low64, hash.high64};
  return true;
}

void StackCapture::Compare(jvmtiEnv* jvmti, CapturedStack* walked) {
  CapturedStack asked(walked->buffer);
  asked.room = walked->buffer.compared;
  if (!Ask(jvmti, walked->is_deep ? RootSide::kLeave : RootSide::kGive, &asked)) return;
  // Stubs between the frames of a deep stack also count: the walk may have ended before the buffer was full.
  if (walked->is_deep) asked.frames = asked.frames.first(std::min(asked.frames.size(), walked->frames.size()));
  if (walked->is_cut == asked.is_cut && walked->is_deep == asked.is_deep &&
      std::equal(walked->frames.begin(), walked->frames.end(), asked.frames.begin(), asked.frames.end(),
                 [this](const MethodFrame& a, const MethodFrame& b) { return Same(a, b); }))
    return;
  DistrustWalker();
  std::copy(asked.frames.begin(), asked.frames.end(), walked->room.begin());
  walked->frames = walked->room.first(asked.frames.size());
  walked->is_cut = asked.is_cut;
  walked->is_deep = asked.is_deep;
  walked->identity = asked.identity;
  walked->is_walked = false;
}

// After a redefinition JVMTI may return the newer of two versions with the same bytecodes.
bool StackCapture::Same(const MethodFrame& walked, const MethodFrame& asked) const {
  if (walked == asked) return true;
  Names::MethodView one;
  Names::MethodView other;
  return walked.bci == asked.bci && names_.Method(walked.method, &one) && names_.Method(asked.method, &other) &&
         one.class_name == other.class_name && one.name == other.name && one.descriptor == other.descriptor;
}

}  // namespace heaprec::sources
