// A table of estimates that fits the terminal: estimates with their intervals on the left, a name on the right.
//
//     bytes              share           objects              class
//  167.3 MiB 156-179     8.7 % 8.1-9.3     2.16 M 1.86M-2.51M  char[]
//
// When it is too wide, intervals and columns are left out in the order of their patience, then names are shortened.
// With Keep::kNames all intervals go first, then columns, and only names longer than three quarters of the width are
// shortened.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct Cell {
  std::string value;
  std::string interval;  // may be empty
};

struct Column {
  // Never left out.
  static constexpr int kStays = 1000;
  std::string title;
  int patience = kStays, patience_of_interval = kStays;  // the least goes first
};

class Table {
 public:
  enum class Keep : bool { kIntervals, kNames };
  Table(std::vector<Column> columns, std::string name_title, Keep keep = Keep::kIntervals)
      : columns_(std::move(columns)), name_title_(std::move(name_title)), keep_(keep) {}

  // `lead`: before the name, never shortened (branches of a tree). `below`: more lines of the name.
  void Add(std::vector<Cell> cells, std::string name, std::string lead = "", std::vector<std::string> below = {});
  void AppendTo(const Terminal& terminal, Text* into) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string name, lead;
    std::vector<std::string> below;
  };
  // What of a column is shown, in characters; 0: nothing.
  struct Widths {
    size_t value = 0, interval = 0;
    size_t All() const { return value + (interval > 0 ? interval + 1 : 0); }
  };
  std::vector<Widths> Natural() const;
  static size_t Sum(const std::vector<Widths>& widths);
  size_t LongestName() const;
  size_t RoomForNames(size_t width) const;
  int PatienceOf(const Column& column, bool has_interval) const;
  void Fit(size_t width, std::vector<Widths>* widths) const;
  void AppendTitles(const std::vector<Widths>& widths, const Terminal& terminal, Text* into) const;
  void AppendRow(const Row& row, const std::vector<Widths>& widths, const Terminal& terminal, Text* into) const;

  const std::vector<Column> columns_;
  const std::string name_title_;
  const Keep keep_;
  std::vector<Row> rows_;
};

}  // namespace heaprec::tools
