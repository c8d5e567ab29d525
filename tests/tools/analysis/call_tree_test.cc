// Stacks of many chunks as one tree: what is one node, and what folding, hiding and damage make of it.
#include "tools/analysis/groups/call_tree.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace heaprec::tools {
namespace {

// Dictionaries in which method and frame i are "p.<name>"; stacks are added root first.
class Chunk {
 public:
  explicit Chunk(uint32_t number) {
    block_.chunk = number;
    block_.dictionaries = &dictionaries_;
  }

  format::Index Frame(const std::string& name, int32_t line = -1) {
    dictionaries_.methods.push_back({"p", name, "()V"});
    dictionaries_.frames.push_back({static_cast<format::Index>(dictionaries_.methods.size() - 1), 0, line});
    return static_cast<format::Index>(dictionaries_.frames.size() - 1);
  }
  format::Index Stack(const std::vector<format::Index>& root_first, bool truncated = false) {
    format::Index node = format::kNone;
    for (const format::Index frame : root_first) {
      dictionaries_.stacks.push_back({node, frame, truncated && node == format::kNone});
      node = static_cast<format::Index>(dictionaries_.stacks.size() - 1);
    }
    return node;
  }
  format::Index StackOf(const std::vector<std::string>& root_first) {
    std::vector<format::Index> frames;
    for (const std::string& name : root_first) frames.push_back(Frame(name));
    return Stack(frames);
  }
  format::Dictionaries& dictionaries() { return dictionaries_; }
  void EnterInto(CallTree* tree) {
    names_.Enter(block_);
    tree->Enter(block_, &names_);
  }

 private:
  format::Dictionaries dictionaries_;
  format::Block block_;
  Names names_;
};

std::string PathOf(const CallTree& tree, CallTree::NodeId node) {
  std::string path;
  for (; node != CallTree::kRoot; node = tree.At(node).parent) {
    path = std::string(tree.NameOf(node)) + (path.empty() ? "" : " ") + path;
  }
  return path;
}

TEST_CASE("The same path of names is one node, whatever numbers the chunk uses") {
  NamePool names;
  CallTree tree(&names, {});
  tree.Start();
  Chunk one(0), two(1);
  const format::Index in_one = one.StackOf({"main", "work", "leaf"});
  one.EnterInto(&tree);
  const CallTree::NodeId leaf = tree.Of(in_one);
  CHECK(PathOf(tree, leaf) == "p.main p.work p.leaf");
  CHECK(tree.At(leaf).depth == 3);
  two.StackOf({"other"});
  const format::Index in_two = two.StackOf({"main", "work", "leaf"});
  const format::Index shorter = two.StackOf({"main", "work"});
  two.EnterInto(&tree);
  CHECK(tree.Of(in_two) == leaf);
  CHECK(tree.Of(shorter) == tree.At(leaf).parent);
  const size_t nodes = tree.nodes().size();
  tree.Of(in_two);
  CHECK(tree.nodes().size() == nodes);
}

TEST_CASE("A new recording with a chunk of the same number has other dictionaries") {
  NamePool names;
  CallTree tree(&names, {});
  Chunk one(0), two(0);
  const format::Index stack = one.StackOf({"a"});
  REQUIRE(two.StackOf({"b"}) == stack);
  tree.Start();
  one.EnterInto(&tree);
  CHECK(PathOf(tree, tree.Of(stack)) == "p.a");
  tree.Start();
  two.EnterInto(&tree);
  CHECK(PathOf(tree, tree.Of(stack)) == "p.b");
}

TEST_CASE("The path of memory that the JVM allocates to report a sample ends at [heaprec], also by library") {
  for (const bool marks_own : {true, false}) {
    NamePool names;
    CallTree tree(&names, {.is_primitive = [](std::string_view method) { return method == "p.primitive"; },
                           .marks_own = marks_own});
    tree.Start();
    Chunk chunk(0);
    const auto native = [&](const std::string& function) {
      const format::Index frame = chunk.Frame(function);
      chunk.dictionaries().methods.back().class_name = "libjvm.so";
      chunk.dictionaries().frames.back().type = format::FrameType::kNative;
      return frame;
    };
    const format::Index main = chunk.Frame("main"), allocate = native("MemAllocator::allocate");
    const format::Index notify = native("MemAllocator::Allocation::notify_allocation_jvmti_sampler");
    const format::Index record = native("JvmtiExport::record_sampled_internal_object_allocation");
    const format::Index storage = native("OopStorage::allocate"), primitive = chunk.Frame("primitive");
    const format::Index own = chunk.Stack({main, allocate, notify, record, storage});
    const format::Index other = chunk.Stack({main, allocate});
    const format::Index by_primitive = chunk.Stack({main, primitive});
    // Reporting frames below a Java frame do not count: they belong to another allocation.
    const format::Index below = chunk.Stack({notify, main});
    chunk.EnterInto(&tree);
    CHECK(PathOf(tree, tree.Of(own)) == (marks_own
                                             ? "p.main libjvm.so.MemAllocator::allocate [heaprec]"
                                             : "p.main libjvm.so.MemAllocator::allocate "
                                               "libjvm.so.MemAllocator::Allocation::notify_allocation_jvmti_sampler "
                                               "libjvm.so.JvmtiExport::record_sampled_internal_object_allocation "
                                               "libjvm.so.OopStorage::allocate"));
    CHECK(names.At(tree.LeafNameOf(own)) == (marks_own ? "[heaprec]" : "libjvm.so.OopStorage::allocate"));
    CHECK(names.At(tree.InnermostNameOf(own)) == (marks_own ? "[heaprec]" : "libjvm.so.OopStorage::allocate"));
    CHECK(names.At(tree.LeafNameOf(other)) == "libjvm.so.MemAllocator::allocate");
    CHECK(names.At(tree.LeafNameOf(below)) == "p.main");
    CHECK(names.At(tree.LeafNameOf(by_primitive)) == "p.main");
    CHECK(names.At(tree.InnermostNameOf(by_primitive)) == "p.primitive");
  }
}

TEST_CASE("Lines distinguish frames only if requested") {
  for (const bool lines : {false, true}) {
    NamePool names;
    CallTree tree(&names, {.lines = lines});
    tree.Start();
    Chunk chunk(0);
    const format::Index main = chunk.Frame("main");
    const format::Index three = chunk.Frame("work", 3), four = chunk.Frame("work", 4);
    const format::Index a = chunk.Stack({main, three}), b = chunk.Stack({main, four});
    chunk.EnterInto(&tree);
    CHECK((tree.Of(a) == tree.Of(b)) == !lines);
    CHECK(PathOf(tree, tree.Of(b)) == (lines ? "p.main p.work:4" : "p.main p.work"));
  }
}

TEST_CASE("Folding removes direct and mutual recursion from a path") {
  NamePool names;
  CallTree tree(&names, {.fold = true});
  tree.Start();
  Chunk chunk(0);
  const auto path = [&](const std::vector<std::string>& frames) {
    const format::Index stack = chunk.StackOf(frames);
    chunk.EnterInto(&tree);
    return PathOf(tree, tree.Of(stack));
  };
  CHECK(path({"a", "a", "a", "b"}) == "p.a p.b");
  CHECK(path({"a", "b", "a", "c"}) == "p.a p.c");
  CHECK(path({"a", "b", "c", "b"}) == "p.a p.b");
  CHECK(path({"a", "b", "c", "b", "c"}) == "p.a p.b p.c");
}

TEST_CASE("Hidden frames are removed from the path, and a stack without others has a node") {
  NamePool names;
  CallTree tree(&names, {.hides = [](std::string_view method) { return method == "p.glue"; }});
  tree.Start();
  Chunk chunk(0);
  const format::Index mixed = chunk.StackOf({"main", "glue", "leaf"}), glue = chunk.StackOf({"glue", "glue"});
  chunk.EnterInto(&tree);
  CHECK(PathOf(tree, tree.Of(mixed)) == "p.main p.leaf");
  CHECK(PathOf(tree, tree.Of(glue)) == "[hidden]");
}

TEST_CASE("Unknown frames have their own nodes") {
  NamePool names;
  CallTree tree(&names, {});
  tree.Start();
  Chunk chunk(0);
  const format::Index leaf = chunk.Frame("leaf");
  chunk.dictionaries().frames.push_back({format::kNone, -1, format::kGapLine});
  const format::Index cut = chunk.Stack({leaf}, true), gap = chunk.Stack({leaf, leaf + 1, leaf});
  const format::Index nameless = chunk.Stack({leaf, format::Index{77}});
  chunk.EnterInto(&tree);
  CHECK(PathOf(tree, tree.Of(format::kNone)) == "[unknown]");
  CHECK(PathOf(tree, tree.Of(12345)) == "[unknown]");
  CHECK(PathOf(tree, tree.Of(cut)) == "[truncated] p.leaf");
  CHECK(PathOf(tree, tree.Of(gap)) == "p.leaf [truncated] p.leaf");
  CHECK(PathOf(tree, tree.Of(nameless)) == "p.leaf [unknown]");
}

TEST_CASE("A damaged tree of stacks ends the walk, and a deep one truncates the path") {
  NamePool names;
  CallTree tree(&names, {.fold = true});
  tree.Start();
  Chunk chunk(0);
  const format::Index leaf = chunk.Frame("leaf");
  chunk.dictionaries().stacks.push_back({0, leaf, false});  // its own parent
  format::Index deep = format::kNone;
  for (int i = 0; i < 20'000; ++i) {
    chunk.dictionaries().stacks.push_back({deep, chunk.Frame("f" + std::to_string(i)), false});
    deep = static_cast<format::Index>(chunk.dictionaries().stacks.size() - 1);
  }
  chunk.EnterInto(&tree);
  CHECK(PathOf(tree, tree.Of(0)) == "p.leaf");
  CHECK(tree.At(tree.Of(deep)).depth == CallTree::kMaxDepth);
}

}  // namespace
}  // namespace heaprec::tools
