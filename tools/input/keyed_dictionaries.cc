#include "tools/input/keyed_dictionaries.h"

#include <vector>

namespace heaprec::tools {
namespace {

using format::Index;
using format::kNone;

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
  Index node = kNone;
  const std::vector<format::RingFrame>& frames = definition->second.leaf_first;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    node = Node(node, FrameOf(*frame), node == kNone && definition->second.truncated);
  }
  return at->second = node;
}

}  // namespace heaprec::tools
