// The picture of a timeline: panels above each other on one axis of time, each value with its name as a tooltip.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/render/text.h"
#include "tools/timeline_form.h"

namespace heaprec::tools {
namespace {

constexpr double kWidth = 960, kLeft = 90, kRight = 20, kTop = 46, kGap = 26, kPlot = kWidth - kLeft - kRight;
constexpr std::array<const char*, 8> kColours{"#1f6feb", "#d1622b", "#2da44e", "#8250df",
                                              "#bf3989", "#9a6700", "#1b7c83", "#57606a"};

std::string Escaped(std::string_view utf8) {
  Text printable;
  AppendPrintable(printable, utf8);
  std::string escaped;
  for (const char c : fmt::to_string(printable)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline) : timeline_(timeline) {}

  std::string Draw(const std::string& title) {
    AddRates("allocated", {timeline_.all}, 180, true);
    if (!timeline_.groups.empty()) AddRates("by group", timeline_.groups, 180, false);
    AddHeap();
    AddSampler();
    AddScale();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<text x=\"{:.0f}\" y=\"24\" font-size=\"15\" fill=\"#1f2328\">{}</text>\n{}</svg>\n",
        kWidth, top_ + 10, kLeft, Escaped(title), body_);
  }

 private:
  using Values = std::vector<double>;

  double X(size_t step) const {
    return kLeft + kPlot * static_cast<double>(step) / static_cast<double>(timeline_.axis.steps);
  }
  double Y(double value, double most, double height) const {
    return top_ + height * (1 - (most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0));
  }
  std::string Rate(double rate) const {
    const Estimate known{rate, rate, rate};
    return (timeline_.unit == Unit::kBytes ? BytesCell(known) : CountCell(known)).value + "/s";
  }

  void BeginPanel(const std::string& name, const std::string& most, double height) {
    body_ += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" fill=\"#1f2328\">{2}</text>\n"
        "<line x1=\"{0:.1f}\" y1=\"{3:.1f}\" x2=\"{4:.1f}\" y2=\"{3:.1f}\" stroke=\"#d0d7de\"/>\n"
        "<text x=\"{5:.1f}\" y=\"{6:.1f}\" text-anchor=\"end\" fill=\"#57606a\">{7}</text>\n"
        "<text x=\"{5:.1f}\" y=\"{3:.1f}\" text-anchor=\"end\" fill=\"#57606a\">0</text>\n",
        kLeft, top_ - 6, Escaped(name), top_ + height, kLeft + kPlot, kLeft - 8, top_ + 10, most);
  }

  // Steps, as stairs.
  std::string Path(const Values& values, double most, double height) const {
    std::string path;
    for (size_t step = 0; step < values.size(); ++step) {
      const double y = Y(values[step], most, height);
      path += fmt::format("{}{:.1f},{:.1f} {:.1f},{:.1f}", step == 0 ? "M" : " L", X(step), y, X(step + 1), y);
    }
    return path;
  }

  // The interval of each step, as a box around its value; and what it is, for the pointer.
  void AddBands(const Timeline::Series& series, double most, double height) {
    for (size_t step = 0; step < series.rates.size(); ++step) {
      const Estimate& rate = series.rates[step];
      const double high = Y(rate.high, most, height), low = Y(rate.low, most, height);
      body_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#1f6feb\" "
          "fill-opacity=\"0.25\"><title>{}: {} ({} to {})</title></rect>\n",
          X(step), high, X(step + 1) - X(step), std::max(low - high, 0.5), At(step), Rate(rate.value), Rate(rate.low),
          Rate(rate.high));
    }
  }
  std::string At(size_t step) const { return "after " + Duration(timeline_.axis.step_ns * step); }

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
      AddPath(values, most, height, kColours[i % kColours.size()], of[i].name);
    }
    top_ += height;
    if (!with_bands) AddLegend(of);
  }

  void AddPath(const Values& values, double most, double height, const char* colour, const std::string& name) {
    body_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"><title>{}</title></path>\n",
                         Path(values, most, height), colour, Escaped(name));
  }

  void AddLegend(const std::vector<Timeline::Series>& of) {
    for (size_t i = 0; i < of.size(); ++i) {
      top_ += 16;
      body_ += fmt::format(
          "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"10\" height=\"10\" fill=\"{2}\"/>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\" fill=\"#1f2328\">{5} (most {6})</text>\n",
          kLeft, top_ - 9, kColours[i % kColours.size()], kLeft + 16, top_, Escaped(of[i].name), Rate(of[i].Most()));
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
      const StepState& state = timeline_.states[step];
      if (state.pauses == 0) continue;
      body_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#d1622b\" "
          "fill-opacity=\"0.3\"><title>{}: {} pauses, {}</title></rect>\n",
          X(step), top_, std::max(1.0, X(step + 1) - X(step) - 1), kHeight, At(step), state.pauses,
          Duration(state.paused_ns));
    }
    AddPath(used, most, kHeight, kColours[2], "heap used");
    top_ += kHeight;
  }

  void AddSampler() {
    const Values fill = Each([](const StepState& state) {
      return state.allowed > 0 ? static_cast<double>(state.kept) / static_cast<double>(state.allowed) : 0;
    });
    constexpr double kHeight = 40;
    top_ += kGap;
    BeginPanel("sampler: fill", "1", kHeight);
    AddPath(fill, 1, kHeight, kColours[7], "samples kept, of those that the rate allows");
    top_ += kHeight;
  }

  void AddScale() {
    constexpr int kTicks = 5;
    top_ += 16;
    for (int tick = 0; tick <= kTicks; ++tick) {
      const double part = static_cast<double>(tick) / kTicks;
      const auto ns = static_cast<uint64_t>(part * static_cast<double>(timeline_.axis.step_ns) *
                                            static_cast<double>(timeline_.axis.steps));
      body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"#57606a\">{}</text>\n",
                           kLeft + kPlot * part, top_, Duration(ns));
    }
  }

  const Timeline& timeline_;
  double top_ = kTop;
  std::string body_;
};

}  // namespace

std::string SvgOf(const Timeline& timeline, const std::string& title) { return Picture(timeline).Draw(title); }

std::string HtmlOf(const Timeline& timeline, const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title></head>\n"
      "<body style=\"margin:1em auto;max-width:1200px\">\n{}</body></html>\n",
      Escaped(title), SvgOf(timeline, title));
}

}  // namespace heaprec::tools
