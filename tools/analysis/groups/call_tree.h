// The stacks of all chunks and recordings as one tree of names, how the code of its frames was executed, and which
// frames only allocate for their caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/codec/index_table.h"
#include "format/model/allocation_primitives.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/text/string_table.h"

namespace heaprec::tools {

// Names as small numbers, the same for all chunks, recordings and files: equal numbers mean merged names.
class NamePool {
 public:
  using Id = uint32_t;

  // `merged`: how names of recordings are to be shown; null: unchanged.
  explicit NamePool(std::shared_ptr<MergedNames> merged = nullptr) : merged_(std::move(merged)) {}

  // Ids count up from 0.
  Id Of(std::string_view name) { return names_.NumberOf(name); }
  // Valid as long as the pool.
  const std::string& At(Id id) const { return names_.texts()[id]; }
  size_t size() const { return names_.texts().size(); }

  MergedNames* merged() const { return merged_.get(); }
  void Clear() { names_ = StringTable(); }

 private:
  std::shared_ptr<MergedNames> merged_;
  StringTable names_;
};

// Numbers by keys of 64 bits, which are already hashes. A lookup accesses one cache line, where a table of indices
// needs three: most keys are looked up once per chunk, when none of them is cached.
//
// Memory:   at most 32 bytes per key.
class KeyTable {
 public:
  // Returns the number of the key. A new key has the number kNew, which the caller changes. Valid until the next call.
  static constexpr uint32_t kNew = 0xffffffff;
  uint32_t& operator[](uint64_t key) {
    if (key == 0) key = 1;  // 0 marks a free entry
    if (2 * (taken_ + 1) > entries_.size()) Grow();
    Entry& entry = Find(key);
    if (entry.key == 0) {
      entry.key = key;
      ++taken_;
    }
    return entry.number;
  }

 private:
  static constexpr size_t kFirstEntries = 64;
  struct Entry {
    uint64_t key = 0;
    uint32_t number = kNew;
  };

  Entry& Find(uint64_t key) {
    const size_t mask = entries_.size() - 1;
    size_t at = key & mask;
    while (entries_[at].key != 0 && entries_[at].key != key) at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> before(entries_.empty() ? kFirstEntries : 2 * entries_.size());
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.key != 0) Find(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_;  // their number is a power of two
  size_t taken_ = 0;
};

inline constexpr std::string_view kHidden = "[hidden]";

// Merges the stacks of all chunks, of any number of recordings, into one tree, root first.
//
//   NamePool names;
//   CallTree tree(&names, {.fold = true});
//   tree.Start();                                   // at the start of every recording
//   tree.Enter(block, &chunk_names);                // for every block
//   const CallTree::Node& leaf = tree.At(tree.Of(sample.stack));
//
// A node is a path of names: frames with the same name and the same callers are one node. An unknown stack is the node
// kUnknown below the root. Frames that were not recorded are nodes kTruncated. A stack whose frames are all hidden is
// the node kHidden below the root. A row without kept samples is its path below a node kCallersNotKept.
//
// A site is the innermost frame that is not an allocation primitive (allocation_primitives.h). Primitives at a stack's
// leaf are omitted, so the path ends at the site; those among its callers stay. Paths of memory that the JVM allocates
// to report samples end at a frame kOwnSite, which replaces the JVM's own frames.
//
// Folding removes recursion, direct or mutual: a frame whose name is already on its path leads back to that node. So a
// name is on a path at most once: a b a c becomes a c.
//
// Memory:   one node per distinct path, one number per stack of the current chunk.
// Failure:  none. Frames beyond kMaxDepth, more than the recorder writes, stay in the node at that depth.
class CallTree {
 public:
  using NodeId = uint32_t;
  static constexpr NodeId kRoot = 0;
  static constexpr uint32_t kMaxDepth = 4096;

  struct Node {
    NodeId parent = kRoot;  // has a smaller id
    NamePool::Id name = 0;  // root: empty
    uint32_t depth = 0;     // root: 0
  };
  struct Options {
    bool lines = false;  // "java.util.HashMap.resize:702" where the line is known
    bool fold = false;
    std::function<bool(std::string_view method)> hides{};  // frames to omit; empty: none
    // Frames at the leaf to omit, so that the leaf is the site; empty: none. A stack of primitives only stays
    // unchanged.
    std::function<bool(std::string_view method)> is_primitive{};
    bool marks_own = true;  // false: shows the JVM's frames instead of kOwnSite
  };

  CallTree(NamePool* names, Options options);

  void Start();
  // `names` must have entered the block, and stay valid until the next call.
  void Enter(const format::Block& block, Names* names);

  // Returns the leaf node of a stack of the latest entered block.
  NodeId Of(format::Index stack) { return PathOf(SiteOf(stack)); }
  // The same for the path of a row, whose callers are unknown: it is below a node kCallersNotKept.
  NodeId OfRow(format::Index path);
  // Returns the name of that node without building its path.
  NamePool::Id LeafNameOf(format::Index stack) { return NameAbove(SiteOf(stack)); }
  // The same, but without omitting primitives.
  NamePool::Id InnermostNameOf(format::Index stack);
  // Returns the child with this name and creates it if necessary: for entries below a leaf, such as its class.
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
  Role Judge(std::string_view method) const;
  NodeId Below(NodeId parent, format::Index frame);
  // Returns format::kNone if there is none.
  NodeId FindChild(NodeId parent, NamePool::Id name) const;
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
  // Names and roles by MethodKey, of all chunks.
  KeyTable known_methods_, known_roles_;
  // State of the current chunk.
  Names* chunk_names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<NodeId> nodes_of_;                           // by stack
  std::vector<NamePool::Id> names_of_, names_of_methods_;  // by frame, by method
  std::vector<format::Index> sites_;                       // by stack: the node that ends its path
  std::vector<Role> roles_;                                // by method
  std::vector<format::Index> path_;                        // scratch buffer
};

// Indexed by format::FrameType.
using ByFrameType = std::array<double, format::kFrameTypes>;

// How the code of frames was executed: which part of the bytes allocated below them came from interpreted, compiled or
// inlined code.
//
//   FrameTypes types;
//   types.Start();                                     // with every recording
//   types.Add(block, tree, sample.stack, weight);      // the tree has entered the block
//   types.Close(factor);                               // at a recording's end: multiplies its weights by this
//   types.Of(node) ...                                 // for a frame on its path
//
// Memory:   a few numbers per node of the tree.
// Failure:  none. Unrecorded types are FrameType::kUnknown.
class FrameTypes {
 public:
  void Start() { now_.clear(); }
  void Add(const format::Block& block, CallTree& tree, format::Index stack, double weight);
  void Close(double factor);

  // Bytes over all closed recordings.
  ByFrameType Of(CallTree::NodeId node) const { return node < all_.size() ? all_[node] : ByFrameType{}; }

 private:
  std::vector<ByFrameType> all_, now_;  // by node
};

// Allocation primitives (format/model/allocation_primitives.h) for reports: reads them from a file, and adds frames
// that only report a sample.
//
// A file has one pattern per line; "#" begins a comment, and a line "default" adds the built-in ones.
//
// Failure:  ReadPrimitives returns an error message for the user.
// List:     docs/reference/sites.md

using format::AllocationPrimitives;

Result<AllocationPrimitives> ReadPrimitives(const std::string& path);

// The name of the site of memory that the JVM allocates to report a sampled object, and whether `method` is part of
// such an allocation.
inline constexpr std::string_view kOwnSite = "[heaprec]";
bool AllocatesForSampling(std::string_view method);

}  // namespace heaprec::tools
