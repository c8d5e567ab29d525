// Where text goes: how wide it may be, and whether it may have colours and box-drawing characters.
//
// Context:  reads the environment: COLUMNS, NO_COLOR, TERM, and the locale's variables.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace heaprec::tools {

struct Terminal {
  size_t width = 0;      // columns; 0: no bound
  bool colour = false;   // a terminal, and NO_COLOR is not set
  bool unicode = false;  // the locale is one of UTF-8

  // For a file or a pipe the width is $COLUMNS, if that is exported.
  static Terminal Of(int descriptor);

  // The text as it is without colour.
  std::string Bold(std::string_view text) const { return In("1", text); }
  std::string Dim(std::string_view text) const { return In("2", text); }
  // `code`: of ECMA-48's SGR, "32".
  std::string In(std::string_view code, std::string_view text) const;
};

// Columns that valid UTF-8 takes: its characters.
size_t WidthOf(std::string_view utf8);

// A name in at most `width` columns: packages to their initials, as many as needed, then the middle left out.
// "c.s.t.javac.util.List". 0: no bound.
std::string Shortened(std::string_view name, size_t width, bool unicode);

// Bars and lines are of block characters, or of ASCII without `unicode`; what is more than nothing shows. From the
// left, `part` (0 to 1) of `width` columns; padded to it.
std::string Bar(double part, size_t width, bool unicode);

// One column for each value, against `most`.
std::string Sparkline(std::span<const double> values, double most, bool unicode);

// The same, `rows` high: the top line first.
std::string ChartLine(std::span<const double> values, double most, size_t row, size_t rows, bool unicode);

}  // namespace heaprec::tools
