// `heaprec native` of a table of exact sums as a report.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/query/live/native_query.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct TableAnswer {
  const NativeTableFile& table;
  const std::vector<TableRow>& rows;
  std::string by;          // what a row is called
  bool by_live = true;     // the largest by what lives, not by what was allocated
  bool compared = false;   // with an older table; then by growth
  size_t limit = 0;        // rows; 0: all
  size_t callers = 0;      // below a site, in text
  uint64_t uncounted = 0;  // calls, for lack of memory; in the older table, too
};

render::Report NativeTableReport(const TableAnswer& answer);

}  // namespace heaprec::tools
