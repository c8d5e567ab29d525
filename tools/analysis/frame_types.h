// How the code of frames ran: what part of the bytes that were allocated below them was by interpreted, by compiled, by
// inlined code.
//
//   FrameTypes types;
//   types.Start();                                     // with every recording
//   types.Add(block, tree, sample.stack, weight);      // the tree has entered the block
//   types.Close(factor);                               // at a recording's end: multiplies its weights by this
//   types.Of(node);                                    // of a frame on its path
//
// Memory:   a few numbers for each node of the tree.
// Threads:  one.
// Failure:  none. What the recording does not tell is FrameType::kUnknown.
#pragma once

#include <array>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/call_tree.h"

namespace heaprec::tools {

// By format::FrameType.
using ByFrameType = std::array<double, format::kFrameTypes>;

class FrameTypes {
 public:
  void Start() { now_.clear(); }
  void Add(const format::Block& block, CallTree& tree, format::Index stack, double weight);
  void Close(double factor);

  // Bytes, of all recordings closed.
  ByFrameType Of(CallTree::NodeId node) const { return node < all_.size() ? all_[node] : ByFrameType{}; }

 private:
  std::vector<ByFrameType> all_, now_;  // by node
};

}  // namespace heaprec::tools
