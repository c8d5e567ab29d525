#include "tools/export/flame_svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/export/flame_graph.h"
#include "tools/text/markup.h"

namespace heaprec::tools {
namespace {

constexpr double kRow = 18, kMargin = 10, kHead = 46;
constexpr double kCharacter = 6.7;  // of the monospaced font, 11 px
constexpr double kMinText = 4 * kCharacter;
// Narrower boxes are left out; those in which no pointer rests say their first figure alone: a picture has thousands.
constexpr double kLeast = 0.5, kMinFigures = 3;
constexpr double kBox = kRow - 1;

// One class for each kind, j (JDK) and a (application) for an eighth of the hues each, light and dark.
constexpr int kShades = 8;
constexpr std::string_view kStyle =
    R"(text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#26221c;pointer-events:none}
.t{font:600 15px system-ui,"Noto Sans",sans-serif}.h{font:12px system-ui,"Noto Sans",sans-serif;fill:#6d675e}
.k0{fill:#dfdcd6}.k3{fill:#c3b2e4}.k4,.k5{fill:#e9e7e3}.k6{fill:#a6c8f2}
)";
constexpr std::string_view kDarkStyle = R"(@media(prefers-color-scheme:dark){
.g{fill:#17181b}text{fill:#f2f0ec}.h{fill:#9c9a94}.k0{fill:#504e49}.k3{fill:#5c4f87}.k4,.k5{fill:#3d3b39}.k6{fill:#3b5c9b}
)";

// Codepoints, which is what a monospaced font counts.
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

class Picture {
 public:
  Picture(const FlameGraph& graph, Text& text) : graph_(graph), text_(text) {}

  void Draw() {
    Lay();
    const double height = kHead + rows_ * kRow + kMargin;
    Format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\">\n",
           kPictureWidth, height);
    Append(text_, std::string_view("<title>"));
    AppendMarkup(text_, graph_.title);
    Append(text_, std::string_view("</title>\n<style>"));
    Style();
    Append(text_, std::string_view("</style>\n<rect class=\"g\" width=\"100%\" height=\"100%\" fill=\"#fbfaf8\"/>\n"));
    Line("t", 20, graph_.title);
    Line("h", 37, graph_.headline);
    for (uint32_t depth = 0; depth < rows_; ++depth) Row(depth);
    Append(text_, std::string_view("</svg>\n"));
  }

 private:
  template <typename... Arguments>
  void Format(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(text_), format, std::forward<Arguments>(arguments)...);
  }

  double Value(size_t box) const { return graph_.estimates.front()[box].value; }

  // Preorder: a box's children follow it, so that its left end is known when they come.
  void Lay() {
    const double all = graph_.boxes.empty() ? 0 : Value(0);
    const double scale = all > 0 ? (kPictureWidth - 2 * kMargin) / all : 0;
    std::vector<double> next;  // by depth: where the next box of the row begins
    for (size_t i = 0; i < graph_.boxes.size(); ++i) {
      const uint32_t depth = graph_.boxes[i].depth;
      next.resize(depth + 2, kMargin);
      const double wide = Value(i) * scale;
      left_.push_back(next[depth]);
      wide_.push_back(wide);
      next[depth + 1] = next[depth];
      next[depth] += wide;
      if (wide < kLeast) continue;
      rows_ = std::max(rows_, depth + 1);
      by_depth_.resize(std::max<size_t>(by_depth_.size(), rows_));
      by_depth_[depth].push_back(i);
    }
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
    Format("<g transform=\"translate(0 {:g})\">\n", kHead + (graph_.icicle ? depth : rows_ - 1 - depth) * kRow);
    for (const size_t i : by_depth_[depth]) Box(i);
    Append(text_, std::string_view("</g>\n"));
  }

  static double Tenths(double number) { return std::round(number * 10) / 10; }

  void Box(size_t i) {
    const FlameBox& box = graph_.boxes[i];
    const FlameName& name = graph_.names[box.name];
    const double left = Tenths(left_[i]);
    Format("<path class=\"{}\" d=\"M{:g} 0h{:g}v{:g}H{:g}z\"><title>", ClassOf(name), left,
           std::max(Tenths(wide_[i] - (wide_[i] > 3 ? 0.6 : 0)), kLeast), kBox, left);
    AppendMarkup(text_, BoxText(graph_, i, wide_[i] < kMinFigures ? 1 : SIZE_MAX));
    Append(text_, std::string_view("</title></path>\n"));
    const std::string label = Label(box, name, wide_[i] - kCharacter);
    if (label.empty()) return;
    Format("<text x=\"{:g}\" y=\"{:g}\">", Tenths(left + kCharacter / 2), kRow - 5);
    AppendMarkup(text_, label);
    Append(text_, std::string_view("</text>\n"));
  }

  static std::string ClassOf(const FlameName& name) {
    const int shade = HueOfFrame(name.text) * kShades / 256;
    if (name.kind == FrameKind::kJdk) return fmt::format("j{}", shade);
    if (name.kind == FrameKind::kApplication) return fmt::format("a{}", shade);
    return fmt::format("k{}", static_cast<int>(name.kind));
  }

  // What there is room for.
  static std::string Label(const FlameBox& box, const FlameName& name, double room) {
    if (room < kMinText) return {};
    const auto most = static_cast<size_t>(room / kCharacter);
    const std::string whole = BoxName(box, name);
    if (box.folded > 0 || Length(whole) <= most) return std::string(FirstCharacters(whole, most));
    for (const bool shortest : {false, true}) {
      const std::string_view part = ShortName(name, shortest);
      if (Length(part) <= most) return std::string(part);
    }
    return std::string(FirstCharacters(ShortName(name, true), most - 1)) + "…";
  }

  const FlameGraph& graph_;
  Text& text_;
  std::vector<double> left_, wide_;
  std::vector<std::vector<size_t>> by_depth_;  // those that are drawn
  uint32_t rows_ = 1;
};

}  // namespace

void AppendFlamePicture(const FlameGraph& graph, Text& into) { Picture(graph, into).Draw(); }

}  // namespace heaprec::tools
