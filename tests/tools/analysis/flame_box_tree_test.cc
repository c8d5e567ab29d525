// Which boxes of a tree are shown, and what becomes of the others.
#include "tools/analysis/groups/flame_box_tree.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace heaprec::tools {
namespace {

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

}  // namespace
}  // namespace heaprec::tools
