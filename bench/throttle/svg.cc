#include "bench/throttle/svg.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <fstream>

namespace heaprec::bench {
namespace {

constexpr double kWidth = 760, kHeight = 360, kLeft = 60, kRight = 130, kTop = 34, kBottom = 48;
constexpr int kTicks = 5;
// Told apart with any kind of colour vision (Okabe, Ito 2008).
constexpr std::array kColours = {"#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"};

std::string Format(const char* format, ...) {
  std::array<char, 512> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

}  // namespace

bool WriteSvg(const Plot& plot, const std::string& path) {
  const auto x = [&](double v) {
    return kLeft + (std::clamp(v, plot.x_least, plot.x_most) - plot.x_least) / (plot.x_most - plot.x_least) *
                       (kWidth - kLeft - kRight);
  };
  const auto y = [&](double v) {
    return kHeight - kBottom -
           (std::clamp(v, plot.y_least, plot.y_most) - plot.y_least) / (plot.y_most - plot.y_least) *
               (kHeight - kTop - kBottom);
  };
  std::string svg = Format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  svg += Format("<text x=\"%g\" y=\"20\" font-size=\"14\">%s</text>\n", kLeft, plot.title.c_str());
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double vx = plot.x_least + (plot.x_most - plot.x_least) * tick / kTicks;
    const double vy = plot.y_least + (plot.y_most - plot.y_least) * tick / kTicks;
    svg += Format("<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", kLeft, y(vy),
                  kWidth - kRight, y(vy));
    svg += Format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", kLeft - 6, y(vy) + 4, vy);
    svg += Format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%g</text>\n", x(vx), kHeight - kBottom + 16, vx);
  }
  svg += Format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", (kLeft + kWidth - kRight) / 2,
                kHeight - 10, plot.x_label.c_str());
  svg += Format("<text transform=\"translate(14 %g) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                (kTop + kHeight - kBottom) / 2, plot.y_label.c_str());
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    svg += "<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"" + std::string(colour) + "\" points=\"";
    for (const auto& [px, py] : plot.lines[i].points) svg += Format("%.1f,%.1f ", x(px), y(py));
    svg += "\"/>\n";
    const double at = kTop + 14 + 18 * static_cast<double>(i);
    svg += Format("<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"%s\" stroke-width=\"3\"/>\n",
                  kWidth - kRight + 10, at - 4, kWidth - kRight + 32, at - 4, colour);
    svg += Format("<text x=\"%g\" y=\"%g\">%s</text>\n", kWidth - kRight + 38, at, plot.lines[i].name.c_str());
  }
  std::ofstream file(path);
  file << svg << "</svg>\n";
  return file.good();
}

}  // namespace heaprec::bench
