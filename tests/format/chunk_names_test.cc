#include "format/codec/chunk_names.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace heaprec::format {
namespace {

std::string Word(std::mt19937_64& random, uint64_t most) { return "w" + std::to_string(random() % most); }

// Many stacks with a common root, as programs have them.
std::vector<StackFrame> SomeStack(std::mt19937_64& random) {
  std::vector<StackFrame> leaf_first(1 + random() % 20);
  for (size_t from_root = 0; from_root < leaf_first.size(); ++from_root) {
    const auto choice = static_cast<int32_t>(random() % (from_root < 8 ? 2 : 50));
    leaf_first[leaf_first.size() - 1 - from_root] = {
        static_cast<Index>(from_root * 50) + static_cast<Index>(choice / 7), choice, choice % 5 - 2};
  }
  return leaf_first;
}

}  // namespace

TEST_CASE("Each name has one index, counted from 0 in order of insertion") {
  std::mt19937_64 random(1);
  ChunkNames names;
  std::map<std::string, Index> classes;
  std::map<std::tuple<std::string, std::string, std::string>, Index> methods;
  std::map<std::tuple<uint64_t, uint32_t, bool, std::string>, Index> threads;
  for (int i = 0; i < 20'000; ++i) {
    const std::string one = Word(random, 3000), two = Word(random, 20), three = Word(random, 5);
    CHECK(names.InternClass(one) == classes.try_emplace(one, static_cast<Index>(classes.size())).first->second);
    CHECK(names.InternMethod(one, two, three) ==
          methods.try_emplace({one, two, three}, static_cast<Index>(methods.size())).first->second);
    const Thread thread{random() % 10, static_cast<uint32_t>(random() % 3), random() % 2 == 0, two};
    CHECK(names.InternThread(thread) ==
          threads
              .try_emplace({thread.java_tid, thread.os_tid, thread.is_virtual, two}, static_cast<Index>(threads.size()))
              .first->second);
  }
  for (const auto& [name, index] : classes) CHECK(names.Text(names.classes()[index]) == name);
  for (const auto& [method, index] : methods) {
    const ChunkNames::NamedMethod& named = names.methods()[index];
    CHECK(std::tuple(names.Text(named.class_name), names.Text(named.name), names.Text(named.descriptor)) == method);
  }
  for (const auto& [thread, index] : threads) {
    const Thread is = names.ThreadOf(index);
    CHECK(std::tuple(is.java_tid, is.os_tid, is.is_virtual, is.name) == thread);
  }
}

TEST_CASE("A stack is one node, whatever is added in between, and returns its frames") {
  std::mt19937_64 random(2);
  ChunkNames names;
  std::map<std::pair<bool, std::vector<std::tuple<Index, int, int>>>, Index> known;
  std::map<Index, std::pair<bool, std::vector<StackFrame>>> by_node;
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<StackFrame> stack = SomeStack(random);
    const bool truncated = random() % 4 == 0;
    std::vector<std::tuple<Index, int, int>> key;
    for (const StackFrame& frame : stack) key.emplace_back(frame.method, frame.bci, frame.line);
    const Index node = names.InternStack(stack, truncated);
    const auto [at, is_new] = known.try_emplace({truncated, key}, node);
    CHECK(at->second == node);
    if (is_new) CHECK(by_node.try_emplace(node, truncated, stack).second);
  }
  CHECK(by_node.size() > 10'000);
  for (const auto& [node, content] : by_node) {
    bool truncated = false;
    CHECK(names.Stack(node, &truncated) == content.second);
    CHECK(truncated == content.first);
  }
  CHECK(names.InternStack({}, false) == kNone);
}

TEST_CASE("A frame with another caller, and a node of a truncated stack, are different") {
  ChunkNames names;
  const StackFrame a{1, 2, 3}, b{1, 2, 4}, c{7, 2, 3};
  const std::vector<std::vector<StackFrame>> stacks = {{a}, {b}, {a, b}, {a, c}, {b, a, c}, {a, a}, {a, a, a}};
  std::map<Index, int> nodes;
  for (int round = 0; round < 3; ++round) {
    for (const auto& stack : stacks) {
      ++nodes[names.InternStack(stack, false)];
      ++nodes[names.InternStack(stack, true)];
    }
  }
  CHECK(nodes.size() == 2 * stacks.size());
  for (const auto& [node, count] : nodes) CHECK(count == 3);
}

TEST_CASE("Names take about as many bytes as their texts plus two dozen") {
  ChunkNames names;
  const uint64_t empty = names.bytes();
  uint64_t text = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "com/example/Class" + std::to_string(i);
    text += name.size();
    names.InternClass(name);
  }
  CHECK(empty < 1024);
  CHECK(names.bytes() >= text);
  CHECK(names.bytes() <= 2 * text + 10'000 * 48);
}

}  // namespace heaprec::format
