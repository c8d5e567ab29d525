// The frames of a row by stack, for JSON and for the lines below the row.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/groups/call_tree.h"

namespace heaprec::tools {

// The root first.
std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree);
// The callers of the last frame, the nearest first; after `most` of them "...".
std::vector<std::string> CallersOf(const std::vector<std::string>& frames, size_t most = SIZE_MAX);

}  // namespace heaprec::tools
