#include "tools/export/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/groups/flame_box_tree.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

using BoxId = FlameBoxTree::BoxId;

constexpr double kWidth = 1200, kRow = 18, kMargin = 10, kHead = 46;
constexpr double kCharacter = 6.7;  // width in the monospaced font, 11 px
constexpr double kMinText = 4 * kCharacter;
// Omits narrower boxes; the titles of boxes that are too narrow for a pointer have only their first value, because a
// picture has thousands of them.
constexpr double kLeast = 0.5, kMinFigures = 3;
constexpr double kBox = kRow - 1;

// The kind of a frame, which determines its colour.
enum class FrameKind : uint8_t { kAll, kJdk, kApplication, kNative, kTruncated, kFolded, kClass };

// Each kind has a class; JDK (j) and application (a) frames have a class per eighth of their hues, light and dark.
constexpr int kShades = 8;
constexpr std::string_view kStyle =
    R"(text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#26221c;pointer-events:none}
.t{font:600 15px system-ui,"Noto Sans",sans-serif}.h{font:12px system-ui,"Noto Sans",sans-serif;fill:#6d675e}
.k0{fill:#dfdcd6}.k3{fill:#c3b2e4}.k4,.k5{fill:#e9e7e3}.k6{fill:#a6c8f2}
)";
constexpr std::string_view kDarkStyle = R"(@media(prefers-color-scheme:dark){
.g{fill:#17181b}text{fill:#f2f0ec}.h{fill:#9c9a94}.k0{fill:#504e49}.k3{fill:#5c4f87}.k4,.k5{fill:#3d3b39}.k6{fill:#3b5c9b}
)";

// Returns the number of codepoints, which determines the width in a monospaced font.
size_t Length(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view FirstCharacters(std::string_view utf8, size_t most) {
  size_t at = 0;
  for (; at < utf8.size() && most > 0; --most) {
    for (++at; at < utf8.size() && (utf8[at] & 0xc0) == 0x80;) ++at;
  }
  return utf8.substr(0, at);
}

// Packages of the JDK's own modules, and of code that HotSpot generates. com.sun and org.* also have other packages.
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

// Removes the line; its colon may be the only one.
std::string_view WithoutLine(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == ':' ? name.substr(0, digits)
                                                                                             : name;
}

FrameKind KindOfFrame(std::string_view name) {
  if (name.starts_with('[')) return FrameKind::kTruncated;
  const bool is_jdk =
      std::ranges::any_of(kJdkPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  return is_jdk ? FrameKind::kJdk : FrameKind::kApplication;
}

// Returns the hue of its package, 0 to 255: the same for all classes of a package, in all pictures.
uint8_t HueOfFrame(std::string_view name) {
  std::string_view package = WithoutLine(name);
  for (int part = 0; part < 2; ++part) package = package.substr(0, std::min(package.rfind('.'), package.size()));
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : package) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return static_cast<uint8_t>(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

// Shortens a frame to "Class.method:line" or "method:line", and a class to its simple name.
std::string_view ShortName(std::string_view name, bool is_class, bool shortest) {
  const std::string_view path = WithoutLine(name);
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return name;
  if (!shortest && !is_class) {
    const size_t before = dot > 0 ? path.rfind('.', dot - 1) : std::string_view::npos;
    if (before == std::string_view::npos) return name;
    dot = before;
  }
  return name.substr(dot + 1);
}

// One value of a box's description, on one line.
struct Figure {
  enum class Unit : uint8_t { kBytes, kCount, kShare };
  std::string label;
  Unit unit;
  Estimate GroupEstimates::*estimate;
};

std::vector<Figure> FiguresOf(const RecordingScan& scan) {
  using Unit = Figure::Unit;
  const Figure share{"share", Unit::kShare, &GroupEstimates::share};
  if (scan.of_exceptions()) return {{"thrown", Unit::kCount, &GroupEstimates::bytes}, share};
  return {{"bytes", Unit::kBytes, &GroupEstimates::bytes},
          {TraitsOf(scan.stream()).lifecycle.things, Unit::kCount, &GroupEstimates::objects},
          share};
}

std::string ValueText(Figure::Unit unit, double value) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "∞";
  if (unit == Figure::Unit::kBytes) return Bytes(value);
  if (unit == Figure::Unit::kShare) return fmt::format("{:.1f} %", 100 * value);
  return Grouped(static_cast<uint64_t>(std::llround(value)));
}

class Picture {
 public:
  Picture(const FlameScan& scan, const FlameCaption& caption, Text& text)
      : scan_(scan), caption_(caption), figures_(FiguresOf(scan.scan())), text_(text) {}

  size_t Draw() {
    const size_t boxes = LayOut();
    const double height = kHead + rows_ * kRow + kMargin;
    Format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\">\n",
           kWidth, height);
    Append(text_, std::string_view("<title>"));
    AppendMarkup(text_, caption_.title);
    Append(text_, std::string_view("</title>\n<style>"));
    Style();
    Append(text_, std::string_view("</style>\n<rect class=\"g\" width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n"));
    Line("t", 20, caption_.title);
    Line("h", 37, caption_.headline);
    for (uint32_t depth = 0; depth < rows_; ++depth) Row(depth);
    Append(text_, std::string_view("</svg>\n"));
    return boxes;
  }

 private:
  struct Drawn {
    BoxId box = 0;
    double left = 0, width = 0;
  };

  template <typename... Arguments>
  void Format(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(text_), format, std::forward<Arguments>(arguments)...);
  }

  // In preorder a box is followed by its children, those with most bytes first, so its left end is known when they are
  // placed.
  size_t LayOut() {
    std::vector<double> bytes;
    for (const GroupEstimates& of : scan_.estimates()) bytes.push_back(of.bytes.value);
    const std::vector<BoxId> order = scan_.boxes().Preorder(bytes);
    const double all = order.empty() ? 0 : bytes[order.front()];
    const double scale = all > 0 ? (kWidth - 2 * kMargin) / all : 0;
    std::vector<uint32_t> depths(scan_.boxes().boxes().size());
    std::vector<double> next;  // by depth: left end of the next box
    for (const BoxId box : order) {
      const BoxId parent = scan_.boxes().boxes()[box].parent;
      const uint32_t depth = depths[box] = parent == FlameBoxTree::kNone ? 0 : depths[parent] + 1;
      next.resize(depth + 2, kMargin);
      const Drawn drawn{box, next[depth], bytes[box] * scale};
      next[depth + 1] = next[depth];
      next[depth] += drawn.width;
      if (drawn.width < kLeast) continue;
      rows_ = std::max(rows_, depth + 1);
      by_depth_.resize(std::max<size_t>(by_depth_.size(), rows_));
      by_depth_[depth].push_back(drawn);
    }
    return order.size();
  }

  void Style() {
    Append(text_, kStyle);
    for (int shade = 0; shade < kShades; ++shade) {
      const double hue = (shade + 0.5) / kShades;
      Format(".j{0}{{fill:hsl({1:.0f} 48% {2:.0f}%)}}.a{0}{{fill:hsl({3:.0f} 92% {4:.0f}%)}}\n", shade, 165 + 45 * hue,
             70 + 9 * hue, 12 + 36 * hue, 70 + 7 * hue);
    }
    Append(text_, kDarkStyle);
    for (int shade = 0; shade < kShades; ++shade) {
      const double hue = (shade + 0.5) / kShades;
      Format(".j{0}{{fill:hsl({1:.0f} 38% {2:.0f}%)}}.a{0}{{fill:hsl({3:.0f} 62% {4:.0f}%)}}\n", shade, 165 + 45 * hue,
             30 + 7 * hue, 8 + 40 * hue, 36 + 6 * hue);
    }
    text_.push_back('}');
  }

  void Line(std::string_view style, double y, std::string_view line) {
    Format("<text class=\"{}\" x=\"{:g}\" y=\"{:g}\">", style, kMargin, y);
    AppendMarkup(text_, line);
    Append(text_, std::string_view("</text>\n"));
  }

  void Row(uint32_t depth) {
    if (depth >= by_depth_.size()) return;
    Format("<g transform=\"translate(0 {:g})\">\n", kHead + (caption_.icicle ? depth : rows_ - 1 - depth) * kRow);
    for (const Drawn& drawn : by_depth_[depth]) Box(drawn);
    Append(text_, std::string_view("</g>\n"));
  }

  static double Tenths(double number) { return std::round(number * 10) / 10; }

  std::string NameOf(BoxId box) const {
    const FlameBoxTree::Box& of = scan_.boxes().boxes()[box];
    if (of.parent == FlameBoxTree::kNone) return "all";
    return of.folded > 0 ? fmt::format("… {} more", Grouped(of.folded))
                         : std::string(scan_.calls().names().At(of.name));
  }

  FrameKind KindOf(BoxId box) const {
    const FlameBoxTree::Box& of = scan_.boxes().boxes()[box];
    if (of.parent == FlameBoxTree::kNone) return FrameKind::kAll;
    if (of.folded > 0) return FrameKind::kFolded;
    if (scan_.leaves().IsClass(of.name)) return FrameKind::kClass;
    return scan_.leaves().IsNative(of.name) ? FrameKind::kNative : KindOfFrame(scan_.calls().names().At(of.name));
  }

  void Box(const Drawn& drawn) {
    const std::string name = NameOf(drawn.box);
    const FrameKind kind = KindOf(drawn.box);
    const double left = Tenths(drawn.left);
    Format("<path class=\"{}\" d=\"M{:g} 0h{:g}v{:g}H{:g}z\"><title>", ClassOf(name, kind), left,
           std::max(Tenths(drawn.width - (drawn.width > 3 ? 0.6 : 0)), kLeast), kBox, left);
    AppendMarkup(text_, name + FiguresText(scan_.estimates()[drawn.box], drawn.width < kMinFigures));
    Append(text_, std::string_view("</title></path>\n"));
    const std::string label = Label(name, kind, drawn.width - kCharacter);
    if (label.empty()) return;
    Format("<text x=\"{:g}\" y=\"{:g}\">", Tenths(left + kCharacter / 2), kRow - 5);
    AppendMarkup(text_, label);
    Append(text_, std::string_view("</text>\n"));
  }

  // Returns "bytes: 18.6 MiB (17.2 MiB to 20.1 MiB)": one line per value, or only the first one.
  std::string FiguresText(const GroupEstimates& of, bool first_only) const {
    std::string text;
    for (const Figure& figure : figures_) {
      const Estimate& estimate = of.*figure.estimate;
      const std::string value = ValueText(figure.unit, estimate.value), low = ValueText(figure.unit, estimate.low),
                        high = ValueText(figure.unit, estimate.high);
      text += fmt::format("\n{}: {}", figure.label, value);
      if (low != value || high != value) text += fmt::format(" ({} to {})", low, high);
      if (first_only) return text;
    }
    // Rows of sites without samples represent points.
    const bool has_rows = scan_.scan().summary().scanned().calibrated_to > 0;
    return text + fmt::format("\n{}: {}", has_rows ? "points" : "samples", Grouped(of.samples));
  }

  static std::string ClassOf(std::string_view name, FrameKind kind) {
    const int shade = HueOfFrame(name) * kShades / 256;
    if (kind == FrameKind::kJdk) return fmt::format("j{}", shade);
    if (kind == FrameKind::kApplication) return fmt::format("a{}", shade);
    return fmt::format("k{}", static_cast<int>(kind));
  }

  // Shortens the name to the available width.
  static std::string Label(const std::string& name, FrameKind kind, double room) {
    if (room < kMinText) return {};
    const auto most = static_cast<size_t>(room / kCharacter);
    if (kind == FrameKind::kFolded || Length(name) <= most) return std::string(FirstCharacters(name, most));
    const bool is_class = kind == FrameKind::kClass;
    for (const bool shortest : {false, true}) {
      const std::string_view part = ShortName(name, is_class, shortest);
      if (Length(part) <= most) return std::string(part);
    }
    return std::string(FirstCharacters(ShortName(name, is_class, true), most - 1)) + "…";
  }

  const FlameScan& scan_;
  const FlameCaption& caption_;
  const std::vector<Figure> figures_;
  Text& text_;
  std::vector<std::vector<Drawn>> by_depth_;
  uint32_t rows_ = 1;
};

}  // namespace

size_t AppendFlamePicture(const FlameScan& scan, const FlameCaption& caption, Text& into) {
  return Picture(scan, caption, into).Draw();
}

}  // namespace heaprec::tools
