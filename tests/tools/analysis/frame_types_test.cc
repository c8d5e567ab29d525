// Of which frames it is known how their code ran, and for how much of what was allocated below them.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/groups/call_tree.h"

namespace heaprec::tools {
namespace {

using format::FrameType;
using TypedFrames = std::vector<std::pair<std::string, FrameType>>;

class Chunk {
 public:
  Chunk() { block_.dictionaries = &dictionaries_; }

  format::Index Stack(const TypedFrames& root_first) {
    format::Index node = format::kNone;
    for (const auto& [name, type] : root_first) {
      dictionaries_.methods.push_back({"p", name, "()V"});
      dictionaries_.frames.push_back({static_cast<format::Index>(dictionaries_.methods.size() - 1), 0, -1, type});
      dictionaries_.stacks.push_back({node, static_cast<format::Index>(dictionaries_.frames.size() - 1), false});
      node = static_cast<format::Index>(dictionaries_.stacks.size() - 1);
    }
    return node;
  }
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
  const format::Index cold = chunk.Stack({{"main", kInterpreted}, {"work", kInterpreted}});
  const format::Index hot = chunk.Stack({{"main", kInterpreted}, {"work", kCompiled}, {"grow", kInlined}});
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
    const format::Index twice = chunk.Stack({{"a", kInterpreted}, {"b", kCompiled}, {"a", kInlined}});
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
  const format::Index stack =
      chunk.Stack({{"a", kCompiled}, {"hidden", kInterpreted}, {"b", kCompiled}, {"a", kInlined}, {"c", kInlined}});
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
