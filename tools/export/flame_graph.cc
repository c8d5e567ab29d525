#include "tools/export/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Packages of the JDK's own modules, and what HotSpot makes itself. com.sun and org.* have neighbours that are not.
constexpr std::array<std::string_view, 14> kJdkPrefixes{"java.",
                                                        "javax.",
                                                        "jdk.",
                                                        "sun.",
                                                        "com.sun.",
                                                        "com.oracle.",
                                                        "netscape.javascript.",
                                                        "org.ietf.jgss.",
                                                        "org.jcp.xml.",
                                                        "org.w3c.dom.",
                                                        "org.xml.sax.",
                                                        "apple.",
                                                        "toolbarButtonGraphics.",
                                                        "oracle.jrockit."};

// Without the line, which may be the only colon.
std::string_view WithoutLine(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == ':' ? name.substr(0, digits)
                                                                                             : name;
}

std::string ValueText(const FlameFigure& figure, double value) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "∞";
  if (figure.unit == FlameFigure::Unit::kBytes) return Bytes(value);
  if (figure.unit == FlameFigure::Unit::kShare) return fmt::format("{:.1f} %", 100 * value);
  return Grouped(static_cast<uint64_t>(std::llround(value)));
}

}  // namespace

FrameKind KindOfFrame(std::string_view name) {
  if (name.starts_with('[')) return FrameKind::kTruncated;
  const bool jdk = std::any_of(kJdkPrefixes.begin(), kJdkPrefixes.end(),
                               [name](std::string_view prefix) { return name.starts_with(prefix); });
  return jdk ? FrameKind::kJdk : FrameKind::kApplication;
}

uint8_t HueOfFrame(std::string_view name) {
  std::string_view package = WithoutLine(name);
  for (int part = 0; part < 2; ++part) package = package.substr(0, std::min(package.rfind('.'), package.size()));
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : package) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return static_cast<uint8_t>(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

std::string_view ShortName(const FlameName& name, bool shortest) {
  const std::string_view path = WithoutLine(name.text);
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return name.text;
  if (!shortest && name.kind != FrameKind::kClass) {
    const size_t before = dot > 0 ? path.rfind('.', dot - 1) : std::string_view::npos;
    if (before == std::string_view::npos) return name.text;
    dot = before;
  }
  return std::string_view(name.text).substr(dot + 1);
}

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
