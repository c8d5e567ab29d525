// The contents of a chunk's dictionaries: methods, frames, stacks, threads; and how their names are spelled.
//
// Names:    as HotSpot's symbols have them ("java/lang/String", "[B"); JavaClassName turns them into Java's spelling.
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

// A thread's text in a recording: its name, then for each label a zero byte and "key=value".
//
// Format:   docs/format/recording.md#dictionaries (threads)

inline std::string_view NameOfThread(std::string_view text) { return text.substr(0, text.find('\0')); }

// Calls `visit(key, value)` for each label.
template <typename Visit>
void ForEachLabel(std::string_view text, Visit visit) {
  for (size_t at = text.find('\0'); at != std::string_view::npos;) {
    const size_t end = text.find('\0', at + 1);
    const std::string_view label = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const size_t equals = label.find('=');
    if (equals != std::string_view::npos) visit(label.substr(0, equals), label.substr(equals + 1));
    at = end;
  }
}

// Java's own spelling of HotSpot's names.
//
// "java/lang/String" -> "java.lang.String"; "[[I" -> "int[][]"; "[Lx/Y;" -> "x.Y[]"; hidden classes:
// "p/C$$Lambda$14+0x0000000800c03000" and "p.C$$Lambda$14.0x0000000800c03000" -> "p.C$$Lambda$14/0x0000000800c03000".
// Never fails: a text that is not a class name is returned with '/' replaced by '.'.

std::string JavaClassName(std::string_view internal_name);

}  // namespace heaprec::format
