#include "tools/export/flame/box_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string ValueText(const FlameFigure& figure, double value) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "∞";
  if (figure.unit == FlameFigure::Unit::kBytes) return Bytes(value);
  if (figure.unit == FlameFigure::Unit::kShare) return fmt::format("{:.1f} %", 100 * value);
  return Grouped(static_cast<uint64_t>(std::llround(value)));
}

}  // namespace

std::string BoxName(const FlameBox& box, const FlameName& name) {
  return box.folded > 0 ? fmt::format("… {} more", Grouped(box.folded)) : name.text;
}

std::string BoxText(const FlameGraph& graph, size_t box, size_t figures) {
  std::string text = BoxName(graph.boxes[box], graph.names[graph.boxes[box].name]);
  for (size_t i = 0; i < std::min(figures, graph.figures.size()); ++i) {
    const FlameFigure& figure = graph.figures[i];
    const Estimate& of = graph.estimates[i][box];
    const std::string value = ValueText(figure, of.value);
    text += fmt::format("\n{}: {}", figure.label, value);
    if (!figure.has_interval) continue;
    const std::string low = ValueText(figure, of.low), high = ValueText(figure, of.high);
    if (low != value || high != value) text += fmt::format(" ({} to {})", low, high);
  }
  return text;
}

}  // namespace heaprec::tools
