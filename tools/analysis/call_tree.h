// All stacks of any number of recordings as one tree, root first, across the dictionaries of their chunks.
//
//   NamePool names;
//   CallTree tree(&names, {.fold = true});
//   tree.Start();                                   // with every recording
//   tree.Enter(block, &chunk_names);                // with every block
//   const CallTree::Node& leaf = tree.At(tree.Of(sample.stack));
//
// A node is a path of names: frames of the same name, called along the same names, are one node. A stack that is not
// known is the node kUnknown below the root, frames that were not recorded are nodes kTruncated, and a stack whose
// frames are all hidden is the node kHidden below the root.
//
// A site is the first frame that does not only carry out the allocation (allocation_primitives.h): primitive frames at
// a stack's leaf are left out, and the path ends at the site. Callers of the site keep theirs. Paths of memory
// that the JVM allocates to report samples end at a frame kOwnSite, which replaces the JVM's own frames.
//
// Folding takes the loops out of a path: a frame whose name stands on its path already leads back to that node, so
// a name is on no path twice. a b a c is a c: mutual recursion folds as direct does.
//
// Memory:   one node for each different path of the dictionaries, one number for each of the chunk's stacks.
// Threads:  one.
// Failure:  none. Names beyond kMaxDepth on a path, more than the recorder writes, stay in the node at that depth.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "format/codec/index_table.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/key_table.h"
#include "tools/analysis/name_pool.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

inline constexpr std::string_view kHidden = "[hidden]";

class CallTree {
 public:
  using NodeId = uint32_t;
  static constexpr NodeId kRoot = 0;
  static constexpr uint32_t kMaxDepth = 4096;

  struct Node {
    NodeId parent = kRoot;  // has the smaller id
    NamePool::Id name = 0;  // of the root: the empty text
    uint32_t depth = 0;     // of the root: 0
  };
  struct Options {
    bool lines = false;  // "java.util.HashMap.resize:702" where the line is known
    bool fold = false;
    std::function<bool(std::string_view method)> hides{};  // frames to leave out; empty: none
    // Frames at the leaf to leave out, so that the leaf is the site; empty: none. A stack of nothing else keeps its
    // last.
    std::function<bool(std::string_view method)> is_primitive{};
    bool marks_own = true;  // false: shows the JVM's frames instead of kOwnSite
  };

  CallTree(NamePool* names, Options options);

  void Start();
  // `names` must have entered the block, and stay until the next one. `method_keys`: what is known of the methods'
  // MethodKeys (0: nothing), likewise; the others are found out.
  void Enter(const format::Block& block, Names* names, std::span<const uint64_t> method_keys = {});

  // Of a stack of the block entered last: the node of its leaf.
  NodeId Of(format::Index stack) { return PathOf(SiteOf(stack)); }
  // The name of that node, for which no path has to be made.
  NamePool::Id LeafNameOf(format::Index stack) { return NameAbove(SiteOf(stack)); }
  // The same, except that no primitive is left out.
  NamePool::Id InnermostNameOf(format::Index stack);
  // The child of that name, made if there is none: for what is shown below a leaf, such as its class.
  NodeId ChildOf(NodeId parent, NamePool::Id name);

  const Node& At(NodeId id) const { return nodes_[id]; }
  std::string_view NameOf(NodeId id) const { return names_.At(nodes_[id].name); }
  const std::vector<Node>& nodes() const { return nodes_; }
  NamePool& names() const { return names_; }

 private:
  static constexpr NodeId kNotLooked = 0xffffffff;

  NodeId PathOf(format::Index stack) {
    return stack < nodes_of_.size() && nodes_of_[stack] != kNotLooked ? nodes_of_[stack] : Look(stack);
  }
  static constexpr NamePool::Id kLeftOut = 0xfffffffe;

  enum class Role : int8_t { kNotLooked, kOther, kPrimitive, kOwn };

  NodeId Look(format::Index stack);
  NamePool::Id NameAbove(format::Index stack);
  format::Index SiteOf(format::Index stack);
  format::Index OwnSiteOf(format::Index stack);
  Role RoleOf(format::Index frame);
  NodeId Below(NodeId parent, format::Index frame);
  uint64_t HashOf(NodeId id) const { return HashOf(nodes_[id].parent, nodes_[id].name); }
  static uint64_t HashOf(NodeId parent, NamePool::Id name) { return format::MixWord(uint64_t{parent} << 32 | name); }
  NamePool::Id NameOfFrame(format::Index frame);
  NamePool::Id NameOfMethod(const format::Frame& frame);
  uint64_t KeyOfMethod(format::Index index) const;
  NamePool::Id Render(const format::Frame& frame);

  NamePool& names_;
  const Options options_;
  std::vector<Node> nodes_;
  format::IndexTable children_;  // by parent and name
  KeyTable known_methods_;       // by MethodKey: of all chunks
  // Of the chunk at hand.
  Names* chunk_names_ = nullptr;
  std::span<const uint64_t> method_keys_;
  uint32_t chunk_ = format::kNone;
  std::vector<NodeId> nodes_of_;                           // by stack
  std::vector<NamePool::Id> names_of_, names_of_methods_;  // by frame, by method
  std::vector<format::Index> sites_;                       // by stack: the node at which its path ends
  std::vector<Role> roles_;                                // by method
  std::vector<format::Index> path_;                        // scratch
};

}  // namespace heaprec::tools
