// The paths that one search finds: chains of references, each with the names of its class and field once.
//
// Memory:   mapped by Make, and used as far as needed. Nothing is allocated later.
// Threads:  one.
// Failure:  Make returns an Error without address space. What has no place any more gets kGapStep, or is refused.
#pragma once

#include <jvmti.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/model/process_state.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/references/heap_walk.h"
#include "recorder/sources/sample/sample_writer.h"

namespace heaprec::sources {

// When a pause must end that began at `begin_ns`. HotSpot stops and resumes its threads outside of it.
inline uint64_t DeadlineOf(uint64_t begin_ns, uint64_t pause_ns) {
  constexpr uint64_t kReserveNs = 1'000'000;
  return begin_ns + pause_ns - std::min(pause_ns / 2, kReserveNs);
}

// What JVMTI calls a root.
format::RootKind RootKindOf(jvmtiHeapReferenceKind kind);

class PathSet {
 public:
  static Result<PathSet> Make();

  // `step` is a reference, or a method: kGapStep where frames were left out, or a name has no place.
  static constexpr uint32_t kGapStep = UINT32_MAX;
  struct Frame {
    uint32_t step, repeats;  // repeats: 0 where frames were left out
  };
  struct Path {
    uint64_t sample;        // id of the sample; 0: of a holder
    uint32_t first, count;  // of its frames, from what holds it to the root's
    format::PathStrength strength;
    format::RootKind root;
    uint32_t root_step;  // the method of a local variable; kGapStep: none
    uint64_t thread;     // Java's id; 0: none
    uint64_t holders;    // bits: the holders that alone keep the object alive; of a holder: its own
  };

  size_t size() const { return path_count_; }
  const Path& operator[](size_t i) const { return paths_[i]; }
  std::span<const Frame> FramesOf(const Path& path) const { return {&frames_[path.first], path.count}; }
  hotspot::Names::MethodView NameOf(uint32_t step) const {
    const Step& of = steps_[step];
    return {{&text_[of.class_at], of.class_bytes}, {&text_[of.name_at], of.name_bytes}, {}};
  }

  // Joins equal steps that follow each other, and keeps the frames beside the object and those beside the root.
  class Frames {
   public:
    void Add(const Frame& frame);
    // The number of frames, and the last one so far.
    size_t count() const { return count_; }
    const Frame& last() const { return last_; }

   private:
    friend class PathSet;
    static constexpr size_t kNear = 40, kFar = 20;
    static_assert(kNear + kFar + 2 <= SampleWriter::kMaxEventFrames);
    void Place(const Frame& frame);
    // Returns how many were written; at most kNear + kFar + 1.
    size_t WriteTo(Frame* into);

    std::array<Frame, kNear> near_;
    std::array<Frame, kFar> far_;  // the last ones, in a circle
    Frame last_{kGapStep, 0};
    size_t count_ = 0, placed_ = 0;
  };
  // Where a long path passes: another one that comes there goes on in the same way.
  struct Mark {
    uint32_t index, path;
    uint32_t frame, repeats;  // of the path's frames so far: their number (0: a free mark), and the last one's repeats
  };
  // Call at each step of a path, the object there being `index`. Returns the mark that an earlier path has left there,
  // or null. `leaves`: this path, which is added next, may leave one.
  const Mark* Pass(uint32_t index, size_t steps, const Frames& frames, bool leaves);
  // Adds the rest of the earlier path, and sets the root.
  void GoOn(const Mark& from, Frames* frames, Path* path) const;

  bool has_room() const { return frame_count_ + Frames::kNear + Frames::kFar + 1 <= kMostFrames; }
  // Sets `first` and `count` of `path`. Needs room.
  void Keep(Frames& frames, Path* path);
  void Add(const Path& path) { paths_[path_count_++] = path; }
  void SetHolder(size_t path, size_t holder) { paths_[path].holders |= uint64_t{1} << holder; }
  // Names are read and copied once for each owner (not null) and place. name_of() returns both.
  template <typename Read>
  uint32_t StepOf(const void* owner, uint32_t place, const Read& name_of) {
    size_t at = (reinterpret_cast<uintptr_t>(owner) / 8 * 31 + place) * 0x9E3779B97F4A7C15U >> 40;
    at &= 2 * kMostSteps - 1;
    while (steps_[at].owner != nullptr && (steps_[at].owner != owner || steps_[at].place != place)) {
      at = (at + 1) % (2 * kMostSteps);
    }
    if (steps_[at].owner != nullptr) return static_cast<uint32_t>(at);
    const auto [class_name, name] = name_of();
    return AddStep(at, owner, place, class_name, name) ? static_cast<uint32_t>(at) : kGapStep;
  }

 private:
  static constexpr size_t kMostSteps = 1 << 16, kMostFrames = 1 << 22, kTextBytes = 8 << 20;
  static constexpr size_t kMarks = 1 << 16, kStepsBeforeMarks = 128;
  static constexpr uint32_t kBetweenMarks = 64;
  struct Step {
    const void* owner;
    uint32_t place;
    uint32_t class_at, class_bytes, name_at, name_bytes;
  };

  PathSet() = default;
  bool AddStep(size_t at, const void* owner, uint32_t place, std::string_view class_name, std::string_view name);
  uint32_t AddText(std::string_view text);

  hotspot::MappedArray<Step> steps_;  // by hash
  size_t step_count_ = 0;
  hotspot::MappedArray<Frame> frames_;
  size_t frame_count_ = 0;
  hotspot::MappedArray<Path> paths_;
  size_t path_count_ = 0;
  hotspot::MappedArray<Mark> marks_;  // by hash
  size_t mark_count_ = 0;
  hotspot::MappedArray<char> text_;
  size_t text_bytes_ = 0;
};

// What a search has found.
struct FoundPaths {
  format::WalkEnd end;
  uint64_t objects, paused_ns;
  PathSet paths;
  std::vector<PathSet::Path> holders;
};

}  // namespace heaprec::sources
