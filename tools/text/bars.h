// Bars and lines of block characters, or of ASCII where the locale has no others.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace heaprec::tools {

// From the left, `part` (0 to 1) of `width` columns; padded to it. What is more than nothing shows.
std::string Bar(double part, size_t width, bool unicode);

// One column for each value, against `most`; what is more than nothing shows.
std::string Sparkline(std::span<const double> values, double most, bool unicode);

// The same, `rows` high: the top line first.
std::string ChartLine(std::span<const double> values, double most, size_t row, size_t rows, bool unicode);

}  // namespace heaprec::tools
