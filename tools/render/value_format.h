// Formats values for people, in the notation of docs/reference/json.md.
//
// An interval has the unit of its value, and only significant digits: "167 MiB", "156-179". Ends that are far from the
// value have their own units ("26.5 KiB-17.5 MiB"), as do those of counts ("1.86M-2.51M") and of 0 ("0 B", "0-3.50
// MiB"). A range is one text.
//
// Context:  pure functions; times of day use the local time zone.
#pragma once

#include <string>
#include <vector>

#include "tools/render/report.h"

namespace heaprec::tools::render {

struct CellText {
  std::string value, interval;  // an interval that adds nothing to the value is empty
};

CellText FormatCell(const Value& value, Unit unit, bool unicode);
// Formats a cell of a row; for Unit::kByRow uses the row's unit.
CellText FormatCell(const Row& row, size_t column, Unit unit, bool unicode);
// "9.65 MiB (8.12-11.5)"
std::string FormatInline(const CellText& cell);
std::string FormatInline(const Value& value, Unit unit, bool unicode);
// The text of a line with its fields in place.
std::string FormatLine(const Line& line, bool unicode);
// A cell of Unit::kBar, `columns` wide.
std::string FormatBar(const Value& part, size_t columns, bool unicode);
// A list of numbers as lines of columns, the top line first; `repeat`: columns of each number.
std::vector<std::string> FormatChart(const Value& list, size_t height, size_t repeat, bool unicode);
// Control characters as \n or \x1b, so that a name cannot steer a terminal.
std::string Printable(const std::string& utf8);

inline bool IsNumeric(Unit unit) {
  return unit != Unit::kText && unit != Unit::kProse && unit != Unit::kAlert && unit != Unit::kSparkline &&
         unit != Unit::kBar && unit != Unit::kCurve;
}

}  // namespace heaprec::tools::render
