// Definitions by content key: what the ring's samples refer to, gathered from the ring itself and from the file.
//
// Gather first what the ring defines and what its samples want; then show every block of the file: only what is wanted
// and not yet defined is kept, so memory is bounded by the ring.
//
// Keys: format/ring/ring_reader.h; the same content has the same key wherever it is defined.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "format/model/allocation_primitives.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "format/ring/ring_reader.h"

namespace heaprec::tools {

struct StackKeyHash {
  size_t operator()(const format::StackKey& key) const { return key.low; }
};

struct KeyedStack {
  std::vector<format::RingFrame> leaf_first;
  bool truncated = false;
};

class RingDefinitions {
 public:
  std::unordered_map<uint64_t, std::string> classes;
  std::unordered_map<uint64_t, format::Method> methods;
  std::unordered_map<uint64_t, format::Thread> threads;
  std::unordered_map<format::StackKey, KeyedStack, StackKeyHash> stacks;

  // Marks as missing what is not defined yet; 0: none.
  void Require(uint64_t class_key, uint64_t thread_key, const format::StackKey& stack_key);
  // The same for the methods of all defined stacks.
  void RequireMethodsOfStacks();
  bool is_incomplete() const;

  // Takes missing definitions from the dictionaries of the file's next block.
  void TakeFrom(const format::Block& block);

 private:
  void TakeStack(const format::Dictionaries& dictionaries, format::Index node);
  uint64_t MethodKeyOf(const format::Dictionaries& dictionaries, format::Index method);

  std::unordered_set<uint64_t> missing_classes_, missing_methods_, missing_threads_;
  std::unordered_set<format::StackKey, StackKeyHash> missing_stacks_;
  // How much of the current chunk's dictionaries has been seen.
  uint32_t chunk_ = 0;
  size_t classes_seen_ = 0, methods_seen_ = 0, threads_seen_ = 0, stacks_seen_ = 0;
  std::vector<uint64_t> method_keys_;  // by index in the current chunk
  std::vector<format::RingFrame> path_;
};

// Turns content keys into the indices of one set of dictionaries, defining each entry once.
class KeyedDictionaries {
 public:
  // Both must outlive this.
  KeyedDictionaries(const RingDefinitions* definitions, format::Dictionaries* into)
      : definitions_(*definitions), into_(*into) {}

  // kNone if the key is defined nowhere.
  format::Index Class(uint64_t key);
  format::Index Thread(uint64_t key);
  format::Index Stack(format::StackKey key);
  // The path (format::PathOf) of that stack.
  format::Index Path(format::StackKey key);

 private:
  bool IsPrimitive(uint64_t method);
  format::Index Nodes(std::span<const format::RingFrame> leaf_first, bool truncated);
  format::Index Method(uint64_t key);
  format::Index FrameOf(const format::RingFrame& frame);
  format::Index Node(format::Index parent, format::Index frame, bool truncated);

  const RingDefinitions& definitions_;
  format::Dictionaries& into_;
  std::unordered_map<uint64_t, format::Index> classes_, threads_, methods_;
  std::unordered_map<format::StackKey, format::Index, StackKeyHash> stacks_, paths_;
  const format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  std::unordered_map<uint64_t, bool> is_primitive_;  // by key of the method
  std::map<std::tuple<format::Index, int32_t, int32_t, format::FrameType>, format::Index> frames_;
  std::map<std::tuple<format::Index, format::Index, bool>, format::Index> nodes_;
};

}  // namespace heaprec::tools
