// Allocation over time as a report or a picture shows it: rates of all and of the largest groups, and beside them the
// sampler and the heap.
//
// Context:  pure functions.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/time_axis.h"
#include "tools/query/timeline_query.h"

namespace heaprec::tools {

struct Timeline {
  struct Series {
    std::string name;
    std::vector<Estimate> rates;  // per second, of each step
    double Most() const;
  };
  TimeAxis axis;
  bool counts_events = false;  // throws; else bytes
  Series all;
  std::vector<Series> groups;
  std::vector<StepState> states;

  // Bytes; of a step without a snapshot those of the one before.
  std::vector<double> HeapUsed() const;
  // Of each step: samples per MiB, and the part of its cap that was used.
  std::vector<double> SamplesPerMib() const;
  std::vector<double> RateUsed() const;
};

Timeline TimelineOf(const TimelineVisitor& scan, const std::vector<std::string>& groups, bool counts_events);

}  // namespace heaprec::tools
