// A line plot as SVG: axes with numbers, lines, a legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heaprec::bench {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title, x_label, y_label;
  double x_least = 0, x_most = 1, y_least = 0, y_most = 1;  // values beyond are drawn at the edge
  std::vector<PlotLine> lines = {};
};

// False if the file cannot be written.
bool WriteSvg(const Plot& plot, const std::string& path);

}  // namespace heaprec::bench
