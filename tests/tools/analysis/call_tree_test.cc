// Stacks of many chunks as one tree: what is one node, and what folding, hiding and damage make of it.
#include "tools/analysis/groups/call_tree.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/small_recording.h"
#include "tools/analysis/estimate/replicates.h"
#include "tools/analysis/groups/flame_box_tree.h"
#include "tools/analysis/totals/process_states.h"

namespace heaprec::tools {
namespace {

using format::FrameType;
using TypedFrames = std::vector<std::pair<std::string, FrameType>>;

// Dictionaries in which method and frame i are "p.<name>"; stacks are added root first.
class Chunk {
 public:
  explicit Chunk(uint32_t number = 0) {
    block_.chunk = number;
    block_.dictionaries = &dictionaries_;
  }

  format::Index Frame(const std::string& name, int32_t line = -1, FrameType type = FrameType::kUnknown) {
    dictionaries_.methods.push_back({"p", name, "()V"});
    dictionaries_.frames.push_back({static_cast<format::Index>(dictionaries_.methods.size() - 1), 0, line, type});
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
  format::Index StackOfTyped(const TypedFrames& root_first) {
    std::vector<format::Index> frames;
    for (const auto& [name, type] : root_first) frames.push_back(Frame(name, -1, type));
    return Stack(frames);
  }
  format::Dictionaries& dictionaries() { return dictionaries_; }
  const format::Block& EnterInto(CallTree* tree) {
    names_.Enter(block_);
    tree->Enter(block_, &names_);
    return block_;
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

// Which boxes of a tree are shown, and what becomes of the others.

// Stacks root first, "a b c", and what was allocated at their leaves.
class Stacks {
 public:
  explicit Stacks(const std::map<std::string, double>& stacks) {
    for (const auto& [stack, weight] : stacks) {
      CallTree::NodeId node = CallTree::kRoot;
      for (size_t at = 0; at < stack.size(); at += 2) node = tree_.ChildOf(node, names_.Of(stack.substr(at, 1)));
      weights_.resize(tree_.nodes().size());
      weights_[node] += weight;
      leaves_[stack] = node;
    }
  }
  FlameBoxTree Callees(FlameBoxTree::Bounds bounds) const { return FlameBoxTree::Callees(tree_, weights_, bounds); }
  FlameBoxTree Callers(FlameBoxTree::Bounds bounds) const { return FlameBoxTree::Callers(tree_, weights_, bounds); }

  // Boxes in preorder, as "  a 12" with a space for each level; "+2 3" for two folded ones.
  std::string Text(const FlameBoxTree& boxes) const {
    std::vector<double> weights;
    for (const FlameBoxTree::Box& box : boxes.boxes()) weights.push_back(box.weight);
    std::string text;
    for (const FlameBoxTree::BoxId id : boxes.Preorder(weights)) {
      const FlameBoxTree::Box& box = boxes.boxes()[id];
      for (FlameBoxTree::BoxId above = box.parent; above != FlameBoxTree::kNone; above = boxes.boxes()[above].parent)
        text += ' ';
      text += box.folded > 0 ? "+" + std::to_string(box.folded) : std::string(names_.At(box.name));
      text += " " + std::to_string(static_cast<int>(box.weight)) + "\n";
    }
    return text;
  }
  CallTree::NodeId Leaf(const std::string& stack) const { return leaves_.at(stack); }

 private:
  NamePool names_;
  CallTree tree_{&names_, {}};
  std::vector<double> weights_;
  std::map<std::string, CallTree::NodeId> leaves_;
};

const Stacks kSome({{"a b c", 10}, {"a b", 1}, {"a d c", 6}, {"a e", 3}, {"f c", 2}});

TEST_CASE("Callees are above their callers, the largest first") {
  CHECK(kSome.Text(kSome.Callees({.most = 100})) == " 22\n a 20\n  b 11\n   c 10\n  d 6\n   c 6\n  e 3\n f 2\n  c 2\n");
}

TEST_CASE("Callers are above what they called, each sum once") {
  CHECK(kSome.Text(kSome.Callers({.most = 100})) ==
        " 22\n c 18\n  b 10\n   a 10\n  d 6\n   a 6\n  f 2\n e 3\n  a 3\n b 1\n  a 1\n");
}

TEST_CASE("Above the limit the smallest boxes are one, with their sum") {
  CHECK(kSome.Text(kSome.Callees({.most = 4})) == " 22\n a 20\n  b 11\n   c 10\n  +2 9\n +1 2\n");
  CHECK(kSome.Text(kSome.Callers({.most = 3})) == " 22\n c 18\n  b 10\n   +1 10\n  +2 8\n +2 4\n");
  CHECK(kSome.Text(kSome.Callees({.most = 100, .least_part = 0.25})) ==
        " 22\n a 20\n  b 11\n   c 10\n  d 6\n   c 6\n  +1 3\n +1 2\n");
  CHECK(kSome.Text(kSome.Callees({.most = 0})) == " 22\n +2 22\n");
  CHECK(kSome.Text(kSome.Callers({.most = 0})) == " 22\n +3 22\n");
}

TEST_CASE("A leaf is in the deepest box that contains it, and in all below") {
  const FlameBoxTree boxes = kSome.Callees({.most = 4});
  const auto path = [&](FlameBoxTree::BoxId box) {
    std::string text;
    for (; box != FlameBoxTree::kNone; box = boxes.boxes()[box].parent) {
      text += std::to_string(static_cast<int>(boxes.boxes()[box].weight)) + " ";
    }
    return text;
  };
  CHECK(path(boxes.Of(kSome.Leaf("a b c"))) == "10 11 20 22 ");
  CHECK(path(boxes.Of(kSome.Leaf("a b"))) == "11 20 22 ");
  CHECK(path(boxes.Of(kSome.Leaf("a d c"))) == "9 20 22 ");
  CHECK(path(boxes.Of(kSome.Leaf("f c"))) == "2 22 ");
  CHECK(path(boxes.Of(12345)) == "22 ");
}

TEST_CASE("A box at the deepest level contains the levels above, and folds nothing") {
  const FlameBoxTree callees = kSome.Callees({.most = 100, .depth = 1});
  CHECK(kSome.Text(callees) == " 22\n a 20\n f 2\n");
  CHECK(callees.boxes()[callees.Of(kSome.Leaf("a d c"))].weight == 20);
  const FlameBoxTree callers = kSome.Callers({.most = 100, .depth = 1});
  CHECK(kSome.Text(callers) == " 22\n c 18\n e 3\n b 1\n");
  CHECK(callers.boxes()[callers.Of(kSome.Leaf("a d c"))].weight == 18);
  CHECK(kSome.Text(kSome.Callees({.most = 100, .least_part = 0.25, .depth = 2})) ==
        " 22\n a 20\n  b 11\n  d 6\n  +1 3\n +1 2\n");
}

TEST_CASE("A recursive method has a box for each call") {
  const Stacks loop({{"a a a", 5}, {"a", 1}});
  CHECK(loop.Text(loop.Callees({.most = 100})) == " 6\n a 6\n  a 5\n   a 5\n");
  CHECK(loop.Text(loop.Callers({.most = 100})) == " 6\n a 6\n  a 5\n   a 5\n");
}

TEST_CASE("A graph without stacks is a root of 0 bytes") {
  const Stacks none({});
  CHECK(none.Text(none.Callees({.most = 100})) == " 0\n");
  CHECK(none.Text(none.Callers({.most = 100})) == " 0\n");
}

// Sites: which frames only allocate for their caller, the list in a file, and CPU time and progress of recordings.

using format::ProcessState;
using format::ProcessStateKind;

TEST_CASE("Allocation primitives are whole methods, or all methods with a prefix") {
  const AllocationPrimitives all = AllocationPrimitives::Default();
  for (const char* method :
       {"java.lang.Object.clone", "java.util.Arrays.copyOfRange", "java.lang.StringConcatHelper.newArray",
        "java.lang.invoke.DirectMethodHandle.allocateInstance",
        "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke", "libjvm.so.os::malloc",
        "libjvm.so.Unsafe_AllocateMemory0", "jdk.internal.misc.Unsafe.allocateMemory0"}) {
    INFO(method);
    CHECK(all.Contains(method));
  }
  for (const char* method :
       {"java.util.BitSet.clone", "java.util.ArrayList.grow", "java.util.Arrays.copyOfX", "p.A.run", ""}) {
    INFO(method);
    CHECK_FALSE(all.Contains(method));
  }
  CHECK(AllocationPrimitives().empty());
  CHECK(all.HasMethod("java/lang/invoke/LambdaForm$MH+0x0000000800c03000", "invoke"));
  CHECK_FALSE(all.HasMethod("p/A", "run"));
}

TEST_CASE("A path ends at the site, or is truncated at the maximum length") {
  const auto path_of = [](const std::string& leaf_first, bool truncated) {
    const format::Path path =
        format::PathOf(leaf_first.size(), truncated, [&](size_t i) { return leaf_first[i] == 'p'; });
    return std::pair(path.frames, path.truncated);
  };
  CHECK(path_of("abc", true) == std::pair<size_t, bool>(1, false));
  CHECK(path_of("ppa", true) == std::pair<size_t, bool>(3, false));
  CHECK(path_of("pp", false) == std::pair<size_t, bool>(2, false));
  CHECK(path_of("pp", true) == std::pair<size_t, bool>(2, true));
  CHECK(path_of(std::string(format::kLongestPath - 1, 'p') + "a", false) == std::pair(format::kLongestPath, false));
  CHECK(path_of(std::string(format::kLongestPath, 'p') + "a", false) == std::pair(format::kLongestPath, true));
  CHECK(path_of("", false) == std::pair<size_t, bool>(0, false));
}

TEST_CASE("A file replaces the list, or extends it") {
  const testing::Directory directory;
  const std::string path = directory / "primitives.txt";
  std::ofstream(path) << "# ours\ncom.acme.Pool.take\ncom.acme.Buffers.*   # all\n\n";
  const auto own = ReadPrimitives(path);
  REQUIRE(own.ok());
  CHECK(own->Contains("com.acme.Pool.take"));
  CHECK(own->Contains("com.acme.Buffers.of"));
  CHECK_FALSE(own->Contains("java.lang.Object.clone"));
  std::ofstream(path, std::ios::app) << "default\n";
  CHECK(ReadPrimitives(path)->Contains("java.lang.Object.clone"));
  std::ofstream(path) << "a.*.b\n";
  CHECK_FALSE(ReadPrimitives(path).ok());
  CHECK_FALSE(ReadPrimitives(directory / "none").ok());
}

format::Block BlockAt(std::initializer_list<std::pair<uint64_t, uint64_t>> looks) {
  format::Block block;
  for (const auto& [seconds, cpu_seconds] : looks) {
    ProcessState state;
    state.kind = ProcessStateKind::kCpu;
    state.time_ns = seconds * 1'000'000'000;
    state.used = cpu_seconds * 1'000'000'000;
    state.committed = state.used / 10;
    block.states.push_back(state);
  }
  return block;
}

TEST_CASE("CPU time between two times is interpolated; outside it is the average") {
  CpuTimeline cpu;
  CHECK_FALSE(cpu.Between(0, 1));
  cpu.Add(BlockAt({{0, 5}, {1, 6}}));
  cpu.Add(BlockAt({{2, 8}, {2, 8}, {4, 9}}));
  const auto between = [&](double from, double to) {
    return cpu.Between(static_cast<uint64_t>(from * 1e9), static_cast<uint64_t>(to * 1e9))->process;
  };
  CHECK(between(0, 4) == Approx(4));
  CHECK(between(1, 2) == Approx(2));
  CHECK(between(0.5, 1.5) == Approx(1.5));
  CHECK(between(3, 6) == Approx(0.5 + 2));
  CHECK(cpu.Between(0, 4'000'000'000)->collector == Approx(0.4));
  CHECK_FALSE(cpu.Between(7, 7));
}

TEST_CASE("Blocks hold the same part of everything, whatever the speed") {
  ProgressBlocks slow, fast;
  for (uint64_t i = 0; i < 1000; ++i) {
    const bool is_early = i < 500;
    slow.Add(is_early ? 1 : 2, i * 100'000'000, 1);
    fast.Add(is_early ? 1 : 2, i * 7'000'000, 1);
  }
  for (const uint32_t key : {1U, 2U}) {
    const auto of_slow = slow.Of(key), of_fast = fast.Of(key);
    CHECK(std::accumulate(of_slow.begin(), of_slow.end(), 0.0) == Approx(ProgressBlocks::kBlocks));
    for (size_t i = 0; i < of_slow.size(); ++i) CHECK(of_slow[i] == Approx(of_fast[i]).margin(0.2));
  }
  CHECK(slow.Of(1)[0] == Approx(2).margin(0.1));
  CHECK(slow.Of(1)[9] == 0);
  CHECK(slow.Of(3)[0] == 0);
}

// Of which frames it is known how their code ran, and for how much of what was allocated below them.

constexpr auto kInterpreted = FrameType::kInterpreted, kCompiled = FrameType::kCompiled, kInlined = FrameType::kInlined;

// Wherever it stands.
ByFrameType OfMethod(const FrameTypes& types, const CallTree& tree, std::string_view method) {
  ByFrameType sum{};
  for (CallTree::NodeId node = 0; node < tree.nodes().size(); ++node) {
    const ByFrameType of = types.Of(node);
    for (size_t type = 0; tree.NameOf(node) == method && type < sum.size(); ++type) sum[type] += of[type];
  }
  return sum;
}

TEST_CASE("How a frame ran is the weighted result of its samples") {
  NamePool names;
  CallTree tree(&names, {});
  tree.Start();
  Chunk chunk;
  const format::Index cold = chunk.StackOfTyped({{"main", kInterpreted}, {"work", kInterpreted}});
  const format::Index hot = chunk.StackOfTyped({{"main", kInterpreted}, {"work", kCompiled}, {"grow", kInlined}});
  const format::Block& block = chunk.EnterInto(&tree);
  FrameTypes types;
  types.Start();
  types.Add(block, tree, cold, 1);
  types.Add(block, tree, hot, 3);
  types.Add(block, tree, format::kNone, 100);
  types.Close(10);
  CHECK(types.Of(tree.Of(cold)) == ByFrameType{0, 10, 30, 0, 0});
  CHECK(types.Of(tree.Of(hot)) == ByFrameType{0, 0, 0, 30, 0});
  CHECK(types.Of(tree.At(tree.Of(cold)).parent) == ByFrameType{0, 40, 0, 0, 0});
  CHECK(types.Of(CallTree::kRoot) == ByFrameType{});
}

TEST_CASE("Recordings add up, and so do the call sites of a method") {
  NamePool names;
  CallTree tree(&names, {});
  FrameTypes types;
  for (const double weight : {1, 2}) {
    tree.Start();
    Chunk chunk;
    const format::Index twice = chunk.StackOfTyped({{"a", kInterpreted}, {"b", kCompiled}, {"a", kInlined}});
    types.Start();
    types.Add(chunk.EnterInto(&tree), tree, twice, weight);
    types.Close(1);
  }
  CHECK(OfMethod(types, tree, "p.a") == ByFrameType{0, 3, 0, 3, 0});
  CHECK(OfMethod(types, tree, "p.b") == ByFrameType{0, 0, 3, 0, 0});
}

TEST_CASE("Hidden and folded frames do not affect how other frames ran") {
  NamePool names;
  CallTree tree(&names, {.fold = true, .hides = [](std::string_view method) { return method == "p.hidden"; }});
  tree.Start();
  Chunk chunk;
  const format::Index stack = chunk.StackOfTyped(
      {{"a", kCompiled}, {"hidden", kInterpreted}, {"b", kCompiled}, {"a", kInlined}, {"c", kInlined}});
  FrameTypes types;
  types.Start();
  types.Add(chunk.EnterInto(&tree), tree, stack, 1);
  types.Close(1);
  CHECK(OfMethod(types, tree, "p.a") == ByFrameType{0, 0, 1, 0, 0});
  CHECK(OfMethod(types, tree, "p.b") == ByFrameType{0, 0, 1, 0, 0});
  CHECK(OfMethod(types, tree, "p.c") == ByFrameType{0, 0, 0, 1, 0});
}

}  // namespace

}  // namespace heaprec::tools
