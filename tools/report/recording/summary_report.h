// `heaprec summary` as a report: a screen with the headline first, and the rest with --verbose.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/health/trust.h"
#include "tools/input/recording.h"
#include "tools/query/live/live_query.h"
#include "tools/query/summary/headlines.h"
#include "tools/query/summary/summary_query.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// What the report is made of.
struct SummaryAnswer {
  const Recording& recording;
  const Facts& facts;
  const TrustReport& trust;
  const ClassSiteTotals& breakdown;
  const Estimator& estimator;
  size_t limit = 0;       // of classes and of sites; 0: all
  bool is_brief = false;  // shows the first reasons, notes and damaged ranges only
  std::vector<FoundLeak> leaks{};
};

// What several recordings add up to. They were drawn apart, so variances add up, each side of an interval on its own.
struct SummaryTotal {
  uint64_t recordings = 0, events = 0, counted = 0;
  Estimate bytes, objects;
  void Add(const Facts& facts, uint64_t counted_bytes);
};

// Headlines of the whole recording, called `file` in commands. None if only a part of it was read, or it has no heap.
Headlines HeadlinesOf(const SummaryAnswer& answer, const std::string& file);
// `name`: empty, or "recordings[]" if there are several.
render::Group SummaryReport(const SummaryAnswer& answer, const char* name);
render::Group TotalReport(const SummaryTotal& total);

}  // namespace heaprec::tools
