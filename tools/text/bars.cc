#include "tools/text/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace heaprec::tools {
namespace {

constexpr std::array<std::string_view, 9> kAcross{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kUp{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAsciiUp{" ", "_", "_", ".", "-", "-", "=", "*", "#"};

// In eighths of a column; what is more than nothing is one at least.
size_t Eighths(double part, size_t columns) {
  const double clipped = std::clamp(std::isfinite(part) ? part : 0, 0.0, 1.0);
  const auto eighths = static_cast<size_t>(std::lround(clipped * static_cast<double>(8 * columns)));
  return clipped > 0 ? std::max<size_t>(eighths, 1) : 0;
}

}  // namespace

std::string Bar(double part, size_t width, bool unicode) {
  size_t left = Eighths(part, width);
  std::string bar;
  for (size_t column = 0; column < width; ++column) {
    const size_t here = std::min<size_t>(left, 8);
    bar += unicode ? kAcross[here] : here > (column == 0 ? 0 : 4) ? "#" : " ";
    left -= here;
  }
  return bar;
}

std::string ChartLine(std::span<const double> values, double most, size_t row, size_t rows, bool unicode) {
  const size_t below = 8 * (rows - 1 - row);
  std::string line;
  for (const double value : values) {
    const size_t eighths = most > 0 ? Eighths(value / most, rows) : 0;
    const size_t here = std::min<size_t>(eighths - std::min(eighths, below), 8);
    line += unicode ? kUp[here] : kAsciiUp[here];
  }
  return line;
}

std::string Sparkline(std::span<const double> values, double most, bool unicode) {
  return ChartLine(values, most, 0, 1, unicode);
}

}  // namespace heaprec::tools
