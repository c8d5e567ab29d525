// A timeline as text for a terminal, as JSON, and as a picture.
//
// Threads:  one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/analysis/time_axis.h"
#include "tools/query/timeline_query.h"
#include "tools/report/group_estimates_format.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {

struct Timeline {
  struct Series {
    std::string name;
    std::vector<Estimate> rates;  // per second, of each step
    double Most() const;
  };
  TimeAxis axis;
  Unit unit = Unit::kBytes;
  Series all;
  std::vector<Series> groups;
  std::vector<StepState> states;

  // Bytes; where nobody looked, what was seen before.
  std::vector<double> HeapUsed() const;
};

Timeline TimelineOf(const TimelineSurvey& survey, const std::vector<std::string>& groups, Unit unit);

// How many steps fit.
size_t StepsWithin(const Terminal& terminal);
std::string TextOf(const Timeline& timeline, const Terminal& terminal);
// {"begin_ns": ..., "step_ns": ..., "steps": [{"bytes_per_second": {...}, "heap_used": ..., ...}], "groups": [...]}
nlohmann::json JsonOf(const Timeline& timeline);
// Self-contained. `title`: what stands above it.
std::string SvgOf(const Timeline& timeline, const std::string& title);
std::string HtmlOf(const Timeline& timeline, const std::string& title);

}  // namespace heaprec::tools
