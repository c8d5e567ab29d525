#include "tools/input/ring_definitions.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace heaprec::tools {
namespace {

using format::Dictionaries;
using format::Index;
using format::kNone;
using format::RingFrame;
using format::StackKey;

constexpr StackKey kNoStackKey{0, 0};
// Deeper than any stack the agent records: a longer path in a damaged tree is a loop.
constexpr size_t kMaxDepth = 1 << 16;

// The frames from node `leaf` to the root, with methods as keys; nullopt if the tree is broken.
std::optional<bool> WalkPath(const Dictionaries& dictionaries, const std::vector<uint64_t>& method_keys, Index leaf,
                             std::vector<RingFrame>* path) {
  path->clear();
  bool truncated = false;
  for (Index at = leaf; at != kNone; at = dictionaries.stacks[at].parent) {
    if (at >= dictionaries.stacks.size() || path->size() > kMaxDepth) return std::nullopt;
    const format::StackNode& node = dictionaries.stacks[at];
    if (node.frame >= dictionaries.frames.size()) return std::nullopt;
    const format::Frame& frame = dictionaries.frames[node.frame];
    path->push_back(
        {frame.method < method_keys.size() ? method_keys[frame.method] : 0, frame.bci, frame.line, frame.type});
    truncated |= node.truncated;
  }
  return truncated;
}

// The index of `key` in `entries`, where `known` remembers what was put there from `defined`.
template <typename Key, typename Defined, typename Known, typename Entry>
Index Intern(const Key& key, const Defined& defined, Known& known, std::vector<Entry>& entries) {
  const auto [at, is_new] = known.try_emplace(key, kNone);
  if (!is_new) return at->second;
  const auto definition = defined.find(key);
  if (definition == defined.end()) return kNone;
  entries.push_back(definition->second);
  return at->second = static_cast<Index>(entries.size() - 1);
}

template <typename Key, typename Known, typename Entry>
Index InternValue(const Key& key, const Entry& entry, Known& known, std::vector<Entry>& entries) {
  const auto [at, is_new] = known.try_emplace(key, static_cast<Index>(entries.size()));
  if (is_new) entries.push_back(entry);
  return at->second;
}

}  // namespace

void RingDefinitions::Require(uint64_t class_key, uint64_t thread_key, const StackKey& stack_key) {
  if (class_key != 0 && !classes.contains(class_key)) missing_classes_.insert(class_key);
  if (thread_key != 0 && !threads.contains(thread_key)) missing_threads_.insert(thread_key);
  if (stack_key != kNoStackKey && !stacks.contains(stack_key)) missing_stacks_.insert(stack_key);
}

void RingDefinitions::RequireMethodsOfStacks() {
  for (const auto& [key, stack] : stacks) {
    for (const RingFrame& frame : stack.leaf_first) {
      if (frame.method != 0 && !methods.contains(frame.method)) missing_methods_.insert(frame.method);
    }
  }
}

bool RingDefinitions::is_incomplete() const {
  return !(missing_classes_.empty() && missing_methods_.empty() && missing_threads_.empty() && missing_stacks_.empty());
}

void RingDefinitions::TakeFrom(const format::Block& block) {
  const Dictionaries& from = *block.dictionaries;
  if (block.chunk != chunk_ || from.stacks.size() < stacks_seen_ || from.classes.size() < classes_seen_) {
    chunk_ = block.chunk;
    classes_seen_ = methods_seen_ = threads_seen_ = stacks_seen_ = 0;
    method_keys_.clear();
  }
  for (; classes_seen_ < from.classes.size(); ++classes_seen_) {
    const std::string& name = from.classes[classes_seen_];
    const uint64_t key = format::ClassKey(name);
    if (missing_classes_.erase(key) > 0) classes.emplace(key, name);
  }
  for (; methods_seen_ < from.methods.size(); ++methods_seen_) {
    const format::Method& method = from.methods[methods_seen_];
    const uint64_t key = format::MethodKey(method.class_name, method.name, method.descriptor);
    method_keys_.push_back(key);
    if (missing_methods_.erase(key) > 0) methods.emplace(key, method);
  }
  for (; threads_seen_ < from.threads.size(); ++threads_seen_) {
    const format::Thread& thread = from.threads[threads_seen_];
    const uint64_t key = format::ThreadKey(thread.java_tid, thread.os_tid, thread.is_virtual, thread.name);
    if (missing_threads_.erase(key) > 0) threads.emplace(key, thread);
  }
  for (; stacks_seen_ < from.stacks.size(); ++stacks_seen_) {
    if (!missing_stacks_.empty()) TakeStack(from, static_cast<Index>(stacks_seen_));
  }
}

// Any node may be the leaf of a stack: that is why every node's key is computed.
void RingDefinitions::TakeStack(const Dictionaries& dictionaries, Index node) {
  const std::optional<bool> truncated = WalkPath(dictionaries, method_keys_, node, &path_);
  if (!truncated) return;
  const StackKey key = format::KeyOfStack(path_, *truncated);
  if (missing_stacks_.erase(key) == 0) return;
  for (Index at = node; at != kNone; at = dictionaries.stacks[at].parent) {
    const Index method = dictionaries.frames[dictionaries.stacks[at].frame].method;
    if (method < method_keys_.size()) methods.emplace(method_keys_[method], dictionaries.methods[method]);
  }
  stacks.emplace(key, KeyedStack{path_, *truncated});
}

Index KeyedDictionaries::Class(uint64_t key) { return Intern(key, definitions_.classes, classes_, into_.classes); }
Index KeyedDictionaries::Thread(uint64_t key) { return Intern(key, definitions_.threads, threads_, into_.threads); }
Index KeyedDictionaries::Method(uint64_t key) { return Intern(key, definitions_.methods, methods_, into_.methods); }

Index KeyedDictionaries::FrameOf(const format::RingFrame& ring) {
  const format::Frame frame{Method(ring.method), ring.bci, ring.line, ring.type};
  return InternValue(std::tuple(frame.method, frame.bci, frame.line, frame.type), frame, frames_, into_.frames);
}

Index KeyedDictionaries::Node(Index parent, Index frame, bool truncated) {
  const format::StackNode node{parent, frame, truncated};
  return InternValue(std::tuple(parent, frame, truncated), node, nodes_, into_.stacks);
}

Index KeyedDictionaries::Stack(format::StackKey key) {
  const auto [at, is_new] = stacks_.try_emplace(key, kNone);
  const auto definition = definitions_.stacks.find(key);
  if (!is_new || definition == definitions_.stacks.end()) return at->second;
  return at->second = Nodes(definition->second.leaf_first, definition->second.truncated);
}

Index KeyedDictionaries::Path(format::StackKey key) {
  const auto [at, is_new] = paths_.try_emplace(key, kNone);
  const auto definition = definitions_.stacks.find(key);
  if (!is_new || definition == definitions_.stacks.end()) return at->second;
  const std::span<const RingFrame> frames = definition->second.leaf_first;
  const format::Path path = format::PathOf(frames.size(), definition->second.truncated,
                                           [&](size_t i) { return IsPrimitive(frames[i].method); });
  return at->second = Nodes(frames.first(path.frames), path.truncated);
}

bool KeyedDictionaries::IsPrimitive(uint64_t method) {
  const auto [at, is_new] = is_primitive_.try_emplace(method, false);
  const auto definition = definitions_.methods.find(method);
  if (is_new && definition != definitions_.methods.end())
    at->second = primitives_.HasMethod(definition->second.class_name, definition->second.name);
  return at->second;
}

Index KeyedDictionaries::Nodes(std::span<const RingFrame> leaf_first, bool truncated) {
  Index node = kNone;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    node = Node(node, FrameOf(*frame), node == kNone && truncated);
  }
  return node;
}

}  // namespace heaprec::tools
