// `heaprec diff` and `check` as reports.
#pragma once

#include <string>

#include "tools/query/compare/budget_check.h"
#include "tools/query/compare/diff_query.h"
#include "tools/render/report.h"
#include "tools/report/page/recording_page.h"

namespace heaprec::tools {

// What diff came to.
struct DiffSide {
  const ComparedRuns& runs;
  std::string window;  // ", 10s..20s"; mostly empty
};

// Which rows are shown: those that changed, or all; the first so many.
struct DiffRows {
  bool all = false;
  bool given = false;  // else as many as people read
  size_t limit = 0;    // 0: all
};

// "+6.5 % (+3.1..+9.9): 68.0 MiB/s before, 72.4 MiB/s after"
render::Line TotalLine(const DiffResult& result, const RecordingScan& scan);
render::Report DiffReport(const DiffResult& result, const DiffSide& before, const DiffSide& after, DiffRows shown,
                          const CallTree& tree);
// The page on which both sides are compared, with the report as a tab.
PageRequest DiffPage(const DiffScan& diff, const render::Report& report);

// What a check came to.

render::Report CheckReport(const CheckAnswer& answer);

}  // namespace heaprec::tools
