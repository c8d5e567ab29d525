// The names of a chunk in Java's spelling and valid UTF-8, each rendered once.
//
// Threads:  one.
// Failure:  an index that is not in the dictionaries renders as kUnknown.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/input/generated_names.h"

namespace heaprec::tools {

inline constexpr std::string_view kUnknown = "[unknown]";
inline constexpr std::string_view kTruncated = "[truncated]";              // frames that were not recorded
inline constexpr std::string_view kCallersNotKept = "[callers not kept]";  // in front of the path of a row

class Names {
 public:
  // `merged`: how generated names are shown; null: as they are. Must outlive it.
  explicit Names(MergedNames* merged = nullptr) : merged_(merged) {}

  // Before any other call, and with every block: caches live as long as the block's chunk. The views that were returned
  // before are invalid afterwards.
  void Enter(const format::Block& block);

  const format::Dictionaries& dictionaries() const { return *dictionaries_; }
  std::string_view Class(format::Index index);
  std::string_view Thread(format::Index index);
  // "java.util.HashMap.resize"
  std::string_view Method(format::Index index);
  std::string_view Method(const format::Frame& frame) { return frame.IsGap() ? kTruncated : Method(frame.method); }
  // nullptr if not known
  const format::Thread* ThreadOf(format::Index index) const;
  const format::Method* MethodOf(format::Index index) const;
  const format::StackNode* NodeOf(format::Index index) const;
  const format::Frame* FrameOf(format::Index index) const;

 private:
  using Labels = std::unordered_map<format::Index, std::string>;
  void LabelLambdas(const format::Block& block);
  void LabelClass(format::Index class_id, format::Index stack);
  std::string ShownClass(std::string_view internal, const Labels& labels, format::Index index) const;

  MergedNames* merged_;
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = 0;
  std::vector<std::string> classes_, threads_, methods_;  // empty: not rendered yet
  // Of the chunk's lambdas, and of their methods: what tells them apart, which is the method that links the class, and
  // the one that the method calls. Empty: not known.
  Labels class_labels_, method_labels_;
  size_t stacks_ = 0;  // looked at
};

// "(Ljava/util/Map$Entry;[IZ)V" -> "Map$Entry, int[], boolean"
std::string ParameterTypes(std::string_view descriptor);

// Calls `visit(const format::Frame&)` from the leaf to the root for at most `limit` frames (0: all), gaps included.
// Returns whether frames are missing behind the last one: cut by the limit, or already when they were recorded.
template <typename Visit>
bool ForEachFrame(const Names& names, format::Index stack, size_t limit, Visit visit) {
  size_t depth = 0;
  // A parent always precedes its children; anything else is a damaged tree and ends the walk.
  for (const format::StackNode* node = names.NodeOf(stack); node != nullptr;) {
    if (limit > 0 && depth++ == limit) return true;
    if (const format::Frame* frame = names.FrameOf(node->frame)) visit(*frame);
    if (node->parent == format::kNone || node->parent >= stack) return node->truncated;
    stack = node->parent;
    node = names.NodeOf(stack);
  }
  return false;
}

}  // namespace heaprec::tools
