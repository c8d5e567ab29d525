// The picture of a timeline: panels on a common time axis; the values of a step are its tooltip.
#include "tools/export/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr double kWidth = 960, kLeft = 90, kRight = 20, kTop = 46, kGap = 26, kPlot = kWidth - kLeft - kRight;
constexpr size_t kColours = 8, kHeapColour = 2, kFillColour = 7;
// c: lines and their labels; b: intervals; p: collections; s: a step, visible under the pointer.
constexpr std::string_view kStyle =
    R"(text{font:12px system-ui,"Noto Sans",sans-serif;fill:#57606a}.n{fill:#1f2328}.t{font-size:15px}
.g{fill:#fff}.l{stroke:#d0d7de}.b{fill:#1f6feb;fill-opacity:.25}.p{fill:#d1622b;fill-opacity:.3}
.s{fill:#000;fill-opacity:0}.s:hover{fill-opacity:.08}path{fill:none;stroke-width:1.5}
.c0{stroke:#1f6feb}.c1{stroke:#d1622b}.c2{stroke:#2da44e}.c3{stroke:#8250df}.c4{stroke:#bf3989}.c5{stroke:#9a6700}
.c6{stroke:#1b7c83}.c7{stroke:#57606a}
@media(prefers-color-scheme:dark){text{fill:#9c9a94}.n{fill:#e8e6e1}.g{fill:#17181b}.l{stroke:#363a41}.s{fill:#fff}
.b{fill:#5b9bf8}.p{fill:#e58a5a}.c0{stroke:#6ea8fe}.c1{stroke:#e58a5a}.c2{stroke:#56c775}.c3{stroke:#b08cf0}
.c4{stroke:#e27ab8}.c5{stroke:#d3a13b}.c6{stroke:#4fb8bf}.c7{stroke:#9c9a94}})";

std::string Escaped(std::string_view utf8) {
  Text printable, escaped;
  AppendPrintable(printable, utf8);
  AppendMarkup(escaped, std::string_view(printable.data(), printable.size()));
  return fmt::to_string(escaped);
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline) : timeline_(timeline) {}

  std::string Draw(const std::string& title) {
    AddRates("allocated", {timeline_.all}, 180, true);
    if (!timeline_.groups.empty()) AddRates("by group", timeline_.groups, 180, false);
    AddHeap();
    AddSampler();
    AddSteps();
    AddScale();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\">\n<style>{}</style>\n"
        "<rect class=\"g\" width=\"100%\" height=\"100%\"/>\n"
        "<text class=\"n t\" x=\"{:.0f}\" y=\"24\">{}</text>\n{}</svg>\n",
        kWidth, top_ + 10, kStyle, kLeft, Escaped(title), body_);
  }

 private:
  using Values = std::vector<double>;

  double X(size_t step) const {
    return kLeft + kPlot * static_cast<double>(step) / static_cast<double>(timeline_.axis.steps);
  }
  double Y(double value, double most, double height) const {
    return top_ + height * (1 - (most > 0 && value > 0 ? std::min(value / most, 1.0) : 0));  // unknown: at the bottom
  }
  std::string Rate(double rate) const {
    using render::Unit;
    return render::FormatCell(rate, timeline_.counts_events ? Unit::kPerSecond : Unit::kBytesPerSecond, true).value;
  }

  void BeginPanel(const std::string& name, const std::string& most, double height) {
    body_ += fmt::format(
        "<text class=\"n\" x=\"{0:.1f}\" y=\"{1:.1f}\">{2}</text>\n"
        "<line class=\"l\" x1=\"{0:.1f}\" y1=\"{3:.1f}\" x2=\"{4:.1f}\" y2=\"{3:.1f}\"/>\n"
        "<text x=\"{5:.1f}\" y=\"{6:.1f}\" text-anchor=\"end\">{7}</text>\n"
        "<text x=\"{5:.1f}\" y=\"{3:.1f}\" text-anchor=\"end\">0</text>\n",
        kLeft, top_ - 6, Escaped(name), top_ + height, kLeft + kPlot, kLeft - 8, top_ + 10, most);
  }

  // A step function.
  std::string Path(const Values& values, double most, double height) const {
    std::string path;
    for (size_t step = 0; step < values.size(); ++step) {
      const double y = Y(values[step], most, height);
      path += fmt::format("{}{:.1f},{:.1f} {:.1f},{:.1f}", step == 0 ? "M" : " L", X(step), y, X(step + 1), y);
    }
    return path;
  }

  // The interval of each step, as a box around its value.
  void AddBands(const Timeline::Series& series, double most, double height) {
    for (size_t step = 0; step < series.rates.size(); ++step) {
      const Estimate& rate = series.rates[step];
      const double high = Y(rate.high, most, height), low = Y(rate.low, most, height);
      body_ += fmt::format("<rect class=\"b\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                           X(step), high, X(step + 1) - X(step), std::max(low - high, 0.5));
    }
  }

  void AddRates(const std::string& name, const std::vector<Timeline::Series>& of, double height, bool with_bands) {
    double most = 0;
    for (const Timeline::Series& series : of) {
      for (const Estimate& rate : series.rates) most = std::max(most, with_bands ? rate.high : rate.value);
    }
    top_ += kGap;
    BeginPanel(name, Rate(most), height);
    for (size_t i = 0; i < of.size(); ++i) {
      Values values;
      for (const Estimate& rate : of[i].rates) values.push_back(rate.value);
      if (with_bands) AddBands(of[i], most, height);
      AddPath(values, most, height, i % kColours);
    }
    top_ += height;
    if (!with_bands) AddLegend(of);
  }

  void AddPath(const Values& values, double most, double height, size_t colour) {
    body_ += fmt::format("<path class=\"c{}\" d=\"{}\"/>\n", colour, Path(values, most, height));
  }

  void AddLegend(const std::vector<Timeline::Series>& of) {
    for (size_t i = 0; i < of.size(); ++i) {
      top_ += 16;
      body_ += fmt::format(
          "<path class=\"c{0}\" style=\"stroke-width:10\" d=\"M{1:.1f},{2:.1f}h10\"/>"
          "<text class=\"n\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5} (most {6})</text>\n",
          i % kColours, kLeft, top_ - 4, kLeft + 16, top_, Escaped(of[i].name), Rate(of[i].Most()));
    }
  }

  template <typename Look>
  Values Each(Look of) const {
    Values values;
    for (const StepState& state : timeline_.states) values.push_back(static_cast<double>(of(state)));
    return values;
  }

  void AddHeap() {
    const Values used = timeline_.HeapUsed();
    const double most = used.empty() ? 0 : *std::max_element(used.begin(), used.end());
    if (!(most > 0)) return;
    constexpr double kHeight = 80;
    top_ += kGap;
    BeginPanel("heap used, and collections", Bytes(most), kHeight);
    for (size_t step = 0; step < timeline_.states.size(); ++step) {
      if (timeline_.states[step].pauses == 0) continue;
      body_ += fmt::format("<rect class=\"p\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                           X(step), top_, std::max(1.0, X(step + 1) - X(step) - 1), kHeight);
    }
    AddPath(used, most, kHeight, kHeapColour);
    top_ += kHeight;
  }

  static double FillOf(const StepState& state) {
    return state.allowed > 0 ? static_cast<double>(state.kept) / static_cast<double>(state.allowed) : 0;
  }

  void AddSampler() {
    constexpr double kHeight = 40;
    top_ += kGap;
    BeginPanel("sampler: fill", "1", kHeight);
    AddPath(Each(FillOf), 1, kHeight, kFillColour);
    top_ += kHeight;
  }

  // Invisible boxes above everything else, with tooltips for each step.
  void AddSteps() {
    const Values used = timeline_.HeapUsed();
    for (size_t step = 0; step < timeline_.axis.steps; ++step) {
      body_ += fmt::format("<rect class=\"s\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}",
                           X(step), kTop, X(step + 1) - X(step), top_ - kTop,
                           "after " + Duration(timeline_.axis.step_ns * step));
      const Estimate& all = timeline_.all.rates[step];
      body_ += fmt::format("\nallocated: {} ({} to {})", Rate(all.value), Rate(all.low), Rate(all.high));
      for (const Timeline::Series& group : timeline_.groups) {
        body_ += fmt::format("\n{}: {}", Escaped(group.name), Rate(group.rates[step].value));
      }
      const StepState& state = timeline_.states[step];
      if (used[step] > 0) body_ += "\nheap used: " + Bytes(used[step]);
      if (state.pauses > 0) body_ += fmt::format("\ncollections: {}, {}", state.pauses, Duration(state.paused_ns));
      body_ += fmt::format("\nsampler: fill {:.2f}</title></rect>\n", FillOf(state));
    }
  }

  void AddScale() {
    constexpr int kTicks = 5;
    top_ += 16;
    for (int tick = 0; tick <= kTicks; ++tick) {
      const double part = static_cast<double>(tick) / kTicks;
      const auto ns = static_cast<uint64_t>(part * static_cast<double>(timeline_.axis.step_ns) *
                                            static_cast<double>(timeline_.axis.steps));
      // The last label ends with the plot: centred, half of it would be outside the picture.
      body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kLeft + kPlot * part, top_,
                           tick < kTicks ? "middle" : "end", Duration(ns));
    }
  }

  const Timeline& timeline_;
  double top_ = kTop;
  std::string body_;
};

}  // namespace

std::string SvgOf(const Timeline& timeline, const std::string& title) { return Picture(timeline).Draw(title); }

}  // namespace heaprec::tools
