#include "format/model/names.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "format/codec/chunk_names.h"
#include "format/model/model.h"
#include "format/native/native_frames.h"
#include "format/ring/content_keys.h"
#include "throttle/random.h"

namespace heaprec::format {
namespace {

TEST_CASE("Classes have the names that Java gives them") {
  CHECK(JavaClassName("java/lang/String") == "java.lang.String");
  CHECK(JavaClassName("Main") == "Main");
  CHECK(JavaClassName("java/util/Map$Entry") == "java.util.Map$Entry");
}

TEST_CASE("Arrays are written as in Java's source") {
  CHECK(JavaClassName("[B") == "byte[]");
  CHECK(JavaClassName("[[I") == "int[][]");
  CHECK(JavaClassName("[Z") == "boolean[]");
  CHECK(JavaClassName("[C") == "char[]");
  CHECK(JavaClassName("[S") == "short[]");
  CHECK(JavaClassName("[J") == "long[]");
  CHECK(JavaClassName("[F") == "float[]");
  CHECK(JavaClassName("[D") == "double[]");
  CHECK(JavaClassName("[Lx/Y;") == "x.Y[]");
  CHECK(JavaClassName("[[Ljava/lang/Object;") == "java.lang.Object[][]");
}

TEST_CASE("Hidden classes have their address after a slash, whichever way HotSpot spells them") {
  CHECK(JavaClassName("p/C$$Lambda$14+0x0000000800c03000") == "p.C$$Lambda$14/0x0000000800c03000");
  CHECK(JavaClassName("p.C$$Lambda$14.0x0000000800c03000") == "p.C$$Lambda$14/0x0000000800c03000");
  CHECK(JavaClassName("p/C$$Lambda.0x00007f0123ABCDEF") == "p.C$$Lambda/0x00007f0123ABCDEF");
  CHECK(JavaClassName("[Lp/C$$Lambda$14+0x0000000800c03000;") == "p.C$$Lambda$14/0x0000000800c03000[]");
}

TEST_CASE("Functions through which HotSpot allocates are not sites, in any JDK") {
  const auto allocates = [](const char* function) { return AllocatesForCaller("libjvm.so", function, Kind::kNative); };
  // JDK 17 and 25.
  for (const char* name : {"os::malloc", "ChunkPool::allocate", "ChunkPool::allocate_chunk", "Chunk::operator new",
                           "ResourceObj::operator new", "AnyObj::operator new", "CHeapObjBase::operator new[]"}) {
    CAPTURE(name);
    CHECK(allocates(name));
  }
  CHECK_FALSE(allocates("Unsafe_AllocateMemory0"));
  CHECK_FALSE(allocates("ChunkPool::clean"));
  // A program's own.
  CHECK_FALSE(AllocatesForCaller("libfoo.so", "Pool::operator new", Kind::kNative));
  CHECK(AllocatesForCaller("libfoo.so", "operator new", Kind::kNative));
}

TEST_CASE("Text that is no class name is returned with dots") {
  CHECK(JavaClassName("").empty());
  CHECK(JavaClassName("[") == "[");
  CHECK(JavaClassName("[[") == "[[");
  CHECK(JavaClassName("[X") == "[X");
  CHECK(JavaClassName("[L;") == "[L;");
  CHECK(JavaClassName("[a/b") == "[a.b");
  CHECK(JavaClassName("a+0x") == "a+0x");
  CHECK(JavaClassName("a+0xyz") == "a+0xyz");
  CHECK(JavaClassName("+0x12") == "+0x12");
}

TEST_CASE("Every loss has its own name") {
  std::set<std::string> names;
  for (int i = 0; i < kLosses; ++i) names.insert(LossReasonName(static_cast<LossReason>(i)));
  CHECK(names.size() == kLosses);
}

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

namespace {

// Leaf first; the keys of the methods are hashes.
std::vector<RingFrame> Stack(std::initializer_list<uint64_t> methods) {
  std::vector<RingFrame> frames;
  for (const uint64_t method : methods) frames.push_back({throttle::Mix64(method), 3, 30});
  return frames;
}

}  // namespace

TEST_CASE("Stacks with the same beginning have paths with the same beginning") {
  const uint64_t path = CallPathKey(Stack({1, 2, 3, 4, 5}));
  CHECK(CallPathKey(Stack({1, 2, 3, 4, 6})) == path);  // four methods count
  CHECK((CallPathKey(Stack({1, 2, 3, 9})) ^ path) >> 16 == 0);
  CHECK((CallPathKey(Stack({1, 2, 9, 9})) ^ path) >> 32 == 0);
  CHECK((CallPathKey(Stack({1, 9, 9, 9})) ^ path) >> 48 == 0);
  CHECK((CallPathKey(Stack({9, 2, 3, 4})) ^ path) >> 48 != 0);
}

TEST_CASE("A path identifies its methods, and is 0 without methods") {
  CHECK(CallPathKey(Stack({1, 2})) != CallPathKey(Stack({2, 1})));
  CHECK((CallPathKey(Stack({1, 2})) & 0xffffffff) == 0);
  CHECK(CallPathKey({}) == 0);
}

TEST_CASE("The bytecode index does not change the path") {
  auto frames = Stack({1, 2, 3, 4});
  const uint64_t path = CallPathKey(frames);
  frames[0].bci = 77;
  CHECK(CallPathKey(frames) == path);
}

}  // namespace heaprec::format
