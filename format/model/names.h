// The contents of a chunk's dictionaries: methods, frames, stacks, threads.
//
// Names:    as HotSpot's symbols have them ("java/lang/String", "[B"); java_names.h turns them into Java's spelling.
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "format/model/stream.h"

namespace heaprec::format {

struct Method {
  std::string class_name, name, descriptor;
  bool operator==(const Method&) const = default;
};

// How the code of a frame was executed when the stack was captured. docs/format/recording.md#dictionaries
enum class FrameType : uint8_t { kUnknown = 0, kInterpreted = 1, kCompiled = 2, kInlined = 3, kNative = 4 };
inline constexpr std::array kFrameTypeNames{"unknown", "interpreted", "compiled", "inlined", "native"};
inline constexpr int kFrameTypes = kFrameTypeNames.size();
constexpr const char* FrameTypeName(FrameType type) {
  const auto number = static_cast<size_t>(type);
  return kFrameTypeNames[number < kFrameTypeNames.size() ? number : 0];
}

// The line of a gap: a frame without a method that replaces the frames left out of a stack.
inline constexpr int32_t kGapLine = -2;

struct Frame {
  Index method = kNone;
  int32_t bci = -1;   // -1: native
  int32_t line = -1;  // -1: unknown
  FrameType type = FrameType::kUnknown;
  bool IsGap() const { return method == kNone && line == kGapLine; }
  bool operator==(const Frame&) const = default;
};

// A node of the tree of stacks: a frame that was called by the frame of `parent` (kNone: it is the root). A stack is
// identified by the index of its leaf.
struct StackNode {
  Index parent = kNone;
  Index frame = kNone;
  bool truncated = false;  // frames nearer to the root than this node were cut off (set on a root node only)
  bool operator==(const StackNode&) const = default;
};

struct Thread {
  uint64_t java_tid = 0;
  uint32_t os_tid = 0;
  bool is_virtual = false;
  std::string name;
  bool operator==(const Thread&) const = default;
};

}  // namespace heaprec::format
