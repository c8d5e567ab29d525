// The names of one chunk, as tables. Samples hold indices into them.
//
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <string>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// Replaces a name whose definition was in a lost block.
inline constexpr const char* kLost = "[lost]";

// A frame of a stack as passed to the writer, leaf first.
struct StackFrame {
  Index method = kNone;
  int32_t bci = -1;
  int32_t line = -1;
  FrameType type = FrameType::kUnknown;
  bool operator==(const StackFrame&) const = default;
};

// The dictionaries of the chunk being read. They grow from block to block and restart with each chunk.
struct Dictionaries {
  std::vector<std::string> classes;
  std::vector<Method> methods;
  std::vector<Frame> frames;
  std::vector<StackNode> stacks;
  std::vector<Thread> threads;
};

// An index as a column has it. In the file none is 0; in memory it is kNone, one below that.
constexpr uint64_t Shifted(Index index) { return static_cast<Index>(index + 1); }
// False: beyond the `entries`.
inline bool TakeIndex(ByteCursor& column, size_t entries, Index* index) {
  const uint64_t shifted = column.Varint();
  if (shifted > entries) return false;
  *index = static_cast<Index>(shifted - 1);
  return true;
}

}  // namespace heaprec::format
