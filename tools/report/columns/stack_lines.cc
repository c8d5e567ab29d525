#include "tools/report/columns/stack_lines.h"

namespace heaprec::tools {

std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree) {
  std::vector<std::string> frames;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) frames.emplace(frames.begin(), tree.NameOf(node));
  return frames;
}

std::vector<std::string> CallersOf(const std::vector<std::string>& frames, size_t most) {
  if (frames.empty()) return {};
  std::vector<std::string> callers(frames.rbegin() + 1, frames.rend());
  if (callers.size() <= most) return callers;
  callers.resize(most);
  callers.emplace_back("...");
  return callers;
}

}  // namespace heaprec::tools
