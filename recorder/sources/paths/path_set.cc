#include "recorder/sources/paths/path_set.h"

#include <algorithm>
#include <cstring>

namespace heaprec::sources {

format::RootKind RootKindOf(jvmtiHeapReferenceKind kind) {
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
      return format::RootKind::kJniGlobal;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
      return format::RootKind::kJniLocal;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
      return format::RootKind::kLocal;
    case JVMTI_HEAP_REFERENCE_THREAD:
      return format::RootKind::kThread;
    case JVMTI_HEAP_REFERENCE_MONITOR:
      return format::RootKind::kMonitor;
    default:
      return format::RootKind::kJvm;
  }
}

Result<PathSet> PathSet::Make() {
  PathSet set;
  for (const Status& made :
       {set.steps_.Map(2 * kMostSteps), set.frames_.Map(kMostFrames), set.paths_.Map(hotspot::HeapWalk::kMostWanted),
        set.marks_.Map(kMarks), set.text_.Map(kTextBytes)}) {
    if (!made.ok()) return made.error();
  }
  return set;
}

void PathSet::Frames::Add(const Frame& frame) {
  if (count_ > 0 && frame.repeats > 0 && last_.step == frame.step) {
    last_.repeats += frame.repeats;
    return;
  }
  if (count_ > 0) Place(last_);
  ++count_;
  last_ = frame;
}

void PathSet::Frames::Place(const Frame& frame) {
  (placed_ < kNear ? near_[placed_] : far_[(placed_ - kNear) % kFar]) = frame;
  ++placed_;
}

size_t PathSet::Frames::WriteTo(Frame* into) {
  if (count_ > 0) Place(last_);
  Frame* to = std::copy_n(near_.begin(), std::min(placed_, kNear), into);
  const size_t rest = placed_ - std::min(placed_, kNear);
  if (rest > kFar) *to++ = {kGapStep, 0};
  for (size_t i = rest - std::min(rest, kFar); i < rest; ++i) *to++ = far_[i % kFar];
  return static_cast<size_t>(to - into);
}

const PathSet::Mark* PathSet::Pass(uint32_t index, size_t steps, const Frames& frames, bool leaves) {
  if (steps < kStepsBeforeMarks || index % kBetweenMarks != 0) return nullptr;
  size_t at = index * 0x9E3779B1U >> 7 & (kMarks - 1);
  while (marks_[at].frame != 0 && marks_[at].index != index) at = (at + 1) % kMarks;
  if (marks_[at].frame != 0) return &marks_[at];
  // Only the first frames of a path are kept whatever follows.
  if (!leaves || frames.count() >= Frames::kNear || mark_count_ == kMarks / 2) return nullptr;
  ++mark_count_;
  marks_[at] = {index, static_cast<uint32_t>(path_count_), static_cast<uint32_t>(frames.count()),
                frames.last().repeats};
  return nullptr;
}

void PathSet::GoOn(const Mark& from, Frames* frames, Path* path) const {
  const Path& other = paths_[from.path];
  path->root = other.root;
  path->root_step = other.root_step;
  path->thread = other.thread;
  const auto rest = FramesOf(other).subspan(from.frame - 1);
  if (const uint32_t left = rest.front().repeats - from.repeats; left > 0) frames->Add({rest.front().step, left});
  for (const Frame& frame : rest.subspan(1)) frames->Add(frame);
}

void PathSet::Keep(Frames& frames, Path* path) {
  path->first = static_cast<uint32_t>(frame_count_);
  path->count = static_cast<uint32_t>(frames.WriteTo(&frames_[frame_count_]));
  frame_count_ += path->count;
}

bool PathSet::AddStep(size_t at, const void* owner, uint32_t place, std::string_view class_name,
                      std::string_view name) {
  if (step_count_ == kMostSteps || text_bytes_ + class_name.size() + name.size() > kTextBytes) return false;
  ++step_count_;
  steps_[at] = {owner,
                place,
                AddText(class_name),
                static_cast<uint32_t>(class_name.size()),
                AddText(name),
                static_cast<uint32_t>(name.size())};
  return true;
}

uint32_t PathSet::AddText(std::string_view text) {
  if (!text.empty()) std::memcpy(&text_[text_bytes_], text.data(), text.size());
  text_bytes_ += text.size();
  return static_cast<uint32_t>(text_bytes_ - text.size());
}

}  // namespace heaprec::sources
