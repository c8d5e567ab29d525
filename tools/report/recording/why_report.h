// `heaprec why` as a report: how the process ended, its account of memory, what grew, and what to do.
#pragma once

#include <vector>

#include "tools/query/live/live_query.h"
#include "tools/query/why/end_facts.h"
#include "tools/query/why/verdict.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct WhyAnswer {
  const EndFacts& facts;
  const EndVerdict& verdict;
  const std::vector<GrownOwner>& grown;
  const std::vector<LiveSite>& sites;   // leaks first
  const std::vector<LivePart>& filled;  // what was live when the heap was full
  const std::vector<NextStep>& advice;
  bool is_brief = false;  // shows only the first evidence, sites and advice
};

// `name`: empty, or "recordings[]" if there are several.
render::Group WhyReport(const WhyAnswer& answer, const char* name);

}  // namespace heaprec::tools
