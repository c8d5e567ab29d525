#include "tools/export/flame/box_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Three digits that say something.
std::string Digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size == 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.995 ? 2 : 3);
}

std::string InUnit(const FlameFigure& figure, double value) {
  switch (figure.unit) {
    case FlameFigure::Unit::kBytes:
      return (value < 0 ? "-" : "") + Bytes(std::abs(value)) + figure.suffix;
    case FlameFigure::Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case FlameFigure::Unit::kRatio:
      return "× " + Digits(value);
    case FlameFigure::Unit::kProbability:
      if (value < 1e-12) return "< 1e-12";
      return value < 1e-4 ? fmt::format("{:.1e}", value) : fmt::format("{:.4f}", value);
    case FlameFigure::Unit::kCount:
      break;
  }
  if (!figure.suffix.empty()) return Digits(value) + figure.suffix;
  return (value < 0 ? "-" : "") + Grouped(static_cast<uint64_t>(std::llround(std::abs(value))));
}

}  // namespace

std::string EstimateText(const FlameFigure& figure, double value) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "∞";
  return (figure.is_signed && value > 0 ? "+" : "") + InUnit(figure, value);
}

std::string BoxName(const FlameBox& box, const FlameName& name) {
  return box.folded > 0 ? fmt::format("… {} more", Grouped(box.folded)) : name.text;
}

std::string BoxText(const FlameGraph& graph, const FlameTree& tree, size_t box, size_t estimates) {
  std::string text = BoxName(tree.boxes[box], graph.names[tree.boxes[box].name]);
  for (size_t i = 0; i < std::min(estimates, graph.estimates.size()); ++i) {
    const FlameFigure& figure = graph.estimates[i];
    const Estimate& of = tree.estimates[i][box];
    const std::string value = EstimateText(figure, of.value);
    text += fmt::format("\n{}: {}", figure.label, value);
    if (!figure.has_interval) continue;
    const std::string low = EstimateText(figure, of.low), high = EstimateText(figure, of.high);
    if (low != value || high != value) text += fmt::format(" ({} to {})", low, high);
  }
  return text;
}

}  // namespace heaprec::tools
