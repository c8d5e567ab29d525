// What `leaks` shows, as text and JSON.
#pragma once

#include <string>

#include "tools/report/live_report.h"

namespace heaprec::tools {

struct LeakRanking {
  double rate = 0.05;  // the false discovery rate
  size_t limit = 0;    // rows; 0: all
  bool all = false;    // also those that are not shown to leak
};

std::string LeaksText(const LiveReport& report, const LeakRanking& ranking);
std::string LeaksJson(const LiveReport& report, const LeakRanking& ranking);

}  // namespace heaprec::tools
