// The frames that are kept of a stack deeper than requested: some nearest to the allocation, and the others nearest to
// the root, where a tree of stacks begins.
//
// Context:  any; the caller gives the memory.
// Failure:  none.
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/model/model.h"
#include "recorder/hotspot/metadata/names.h"

namespace heaprec::hotspot {

struct MethodFrame {
  const VmMethod* method;
  // Identifies method and bci as long as the process lives, whatever is unloaded or redefined; 0: no identity.
  uint64_t code_key = 0;
  int32_t bci = -1;  // -1: a native method
  format::FrameType type : 8 = format::FrameType::kUnknown;
  static constexpr int32_t kNotRead = -2;
  int32_t line : 24 = kNotRead;
  bool operator==(const MethodFrame& other) const { return method == other.method && bci == other.bci; }
};

// Hundreds of them may lie on a stack that has just overflowed.
static_assert(sizeof(MethodFrame) == 24);

class FrameSelection {
 public:
  // Keeps at most room.size() >= 1 frames.
  explicit FrameSelection(std::span<MethodFrame> room) : room_(room), leaf_(LeafSide(room.size())) {}

  // How many frames of `depth` are kept nearest to the allocation: a quarter, at least one.
  static size_t LeafSide(size_t depth) { return (depth + 3) / 4; }

  // Innermost first.
  void Add(const MethodFrame& frame) {
    const size_t ring = room_.size() - leaf_;
    if (seen_ < room_.size())
      room_[seen_] = frame;
    else if (ring > 0)
      room_[leaf_ + (seen_ - leaf_) % ring] = frame;
    ++seen_;
  }

  // The kept frames, innermost first. Call once, after the last Add.
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

}  // namespace heaprec::hotspot
