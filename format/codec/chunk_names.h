// The dictionaries of a chunk that is being written: each text, class, method, frame, stack and thread once.
// Entries are small and have no heap block of their own, because the recorder's memory for them limits how long a
// chunk can be.
//
// Context:  drain (it allocates).
// Threads:  one.
// Failure:  none. Indices must come from the same object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/codec/dictionaries.h"
#include "format/codec/index_table.h"
#include "format/model/model.h"

namespace heaprec::format {

class ChunkNames {
 public:
  // Indices of texts.
  struct NamedMethod {
    Index class_name, name, descriptor;
    bool operator==(const NamedMethod&) const = default;
  };
  struct NamedThread {
    uint64_t java_tid;
    uint32_t os_tid;
    Index name;  // index of a text
    bool is_virtual;
    bool operator==(const NamedThread&) const = default;
  };
  struct Node {
    Index parent;  // kNone: a root; kCutRoot: one below which frames are missing
    Index frame;
    bool operator==(const Node&) const = default;
  };
  static constexpr Index kCutRoot = kNone - 1;

  // Each returns the index of the entry, new or existing. Names are clipped to kMaxStringBytes.
  Index InternClass(std::string_view name);
  Index InternMethod(std::string_view class_name, std::string_view name, std::string_view descriptor);
  Index InternStack(std::span<const StackFrame> leaf_first, bool truncated);
  // The same for a path. How its code ran makes no other path: its frames are the first that were interned with the
  // same method, bytecode index and line.
  Index InternPath(std::span<const StackFrame> leaf_first, bool truncated);
  Index InternThread(const Thread& thread);

  std::string_view Text(Index text) const;
  size_t texts() const { return text_ends_.size(); }
  const std::vector<Index>& classes() const { return classes_; }  // indices of texts
  const std::vector<NamedMethod>& methods() const { return methods_; }
  const std::vector<StackFrame>& frames() const { return frames_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<NamedThread>& threads() const { return threads_; }
  // Whether a node was first interned for a path.
  bool IsOfPath(Index node) const { return is_of_path_[node]; }

  // Returns the frames of a stack, innermost first, and at most `most` of them. Sets *truncated if more are missing.
  std::vector<StackFrame> Stack(Index leaf, bool* truncated, size_t most = SIZE_MAX) const;
  Thread ThreadOf(Index thread) const;

  // Bytes on the heap.
  uint64_t bytes() const;

 private:
  Index InternText(std::string_view text);
  Index InternFrame(const StackFrame& frame);
  Index InternNode(const Node& node, bool is_of_path = false);

  std::string all_texts_;
  std::vector<uint32_t> text_ends_;
  std::vector<Index> classes_;
  std::vector<NamedMethod> methods_;
  std::vector<StackFrame> frames_;
  std::vector<Node> nodes_;
  std::vector<Index> latest_child_;  // of each node: the child that was interned or found last
  std::vector<bool> is_of_path_;     // by node
  std::vector<NamedThread> threads_;
  IndexTable text_table_, class_table_, method_table_, frame_table_, node_table_, thread_table_;
};

}  // namespace heaprec::format
