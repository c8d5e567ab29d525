// `heaprec leaks` as a report: the sites whose live bytes keep growing.
//
// Context:  pure functions.
#pragma once

#include <cstddef>

#include "tools/render/report.h"
#include "tools/report/columns/live_columns.h"

namespace heaprec::tools {

struct LeakRanking {
  double rate = 0.05;  // the false discovery rate
  size_t limit = 0;    // rows; 0: all
  bool all = false;    // also those whose growth is not significant
};

render::Report LeaksReport(const LiveAnswer& answer, const LeakRanking& ranking);

}  // namespace heaprec::tools
