#include "tools/export/flame/flame_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/export/flame/frame_kind.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kAllName = 0, kFoldedName = 1;

}  // namespace

std::vector<FlameBox> FlameAssembly::Boxes(const FlameBoxTree& tree, std::span<const FlameBoxTree::BoxId> order) {
  std::vector<FlameBox> boxes;
  boxes.reserve(order.size());
  std::vector<uint32_t> depths(tree.boxes().size());
  for (const FlameBoxTree::BoxId box : order) {
    const FlameBoxTree::Box& of = tree.boxes()[box];
    depths[box] = of.parent == FlameBoxTree::kNone ? 0 : depths[of.parent] + 1;
    boxes.push_back({depths[box], NameOf(tree, box), of.folded});
  }
  return boxes;
}

uint32_t FlameAssembly::NameOf(const FlameBoxTree& tree, FlameBoxTree::BoxId box) {
  const FlameBoxTree::Box& of = tree.boxes()[box];
  if (of.parent == FlameBoxTree::kNone) return kAllName;
  if (of.folded > 0) return kFoldedName;
  const auto [known, is_new] = indexes_.try_emplace(of.name, static_cast<uint32_t>(flame_names_.size()));
  if (is_new) flame_names_.push_back({names_.At(of.name), KindOf(of.name)});
  return known->second;
}

FrameKind FlameAssembly::KindOf(NamePool::Id name) const {
  for (const LeafVisitor* leaves : leaves_) {
    if (leaves->IsClass(name)) return FrameKind::kClass;
    if (leaves->IsNative(name)) return FrameKind::kNative;
  }
  return KindOfFrame(names_.At(name));
}

namespace {

CodeShares SharesOf(const ByFrameType& of) {
  const auto at = [&of](format::FrameType type) { return of[static_cast<size_t>(type)]; };
  const double all = std::accumulate(of.begin(), of.end(), 0.0);
  const auto percent = [all](double part) { return static_cast<uint8_t>(std::lround(100 * part / all)); };
  if (!(all > 0)) return {};
  return {percent(at(format::FrameType::kInterpreted)), percent(at(format::FrameType::kCompiled)),
          percent(at(format::FrameType::kInlined))};
}

std::vector<CodeShares> UnlessUnknown(std::vector<CodeShares> shares) {
  const bool is_known = std::any_of(shares.begin(), shares.end(),
                                    [](const CodeShares& of) { return of.interpreted + of.compiled + of.inlined > 0; });
  return is_known ? std::move(shares) : std::vector<CodeShares>();
}

}  // namespace

std::vector<CodeShares> CodeOf(const FlameBoxTree& tree, std::span<const FlameBoxTree::BoxId> order,
                               const FrameTypes& types) {
  std::vector<CodeShares> shares;
  for (const FlameBoxTree::BoxId box : order) shares.push_back(SharesOf(types.Of(tree.boxes()[box].node)));
  return UnlessUnknown(std::move(shares));
}

std::vector<CodeShares> CodeByName(const CallTree& calls, const FlameBoxTree& tree,
                                   std::span<const FlameBoxTree::BoxId> order, const FrameTypes& types) {
  const auto by_name = types.ByName(calls);
  std::vector<CodeShares> shares;
  for (const FlameBoxTree::BoxId box : order) {
    const auto found = by_name.find(tree.boxes()[box].name);
    const bool is_frame = found != by_name.end() && tree.boxes()[box].folded == 0;
    shares.push_back(is_frame ? SharesOf(found->second) : CodeShares{});
  }
  return UnlessUnknown(std::move(shares));
}

}  // namespace heaprec::tools
