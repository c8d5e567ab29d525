// `heaprec diff` and `check` as reports.
#pragma once

#include <string>

#include "base/result.h"
#include "tools/query/compare/budget_check.h"
#include "tools/query/compare/diff_query.h"
#include "tools/render/report.h"
#include "tools/report/page/recording_page.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// The result of diff.
struct DiffSide {
  const ComparedRuns& runs;
  std::string window;  // ", 10s..20s"; usually empty
};

// The shown rows: those that changed, or all; at most `limit`.
struct DiffRows {
  bool all = false;
  bool given = false;  // otherwise the default for people
  size_t limit = 0;    // 0: all
};

// "+6.5 % (+3.1..+9.9): 68.0 MiB/s before, 72.4 MiB/s after"
render::Line TotalLine(const DiffResult& result, const RecordingScan& scan);
render::Report DiffReport(const DiffResult& result, const DiffSide& before, const DiffSide& after, DiffRows shown,
                          const CallTree& tree);
// The page that compares both sides, with the report as a tab.
PageRequest DiffPage(const DiffScan& diff, const render::Report& report);
// The page of the two recordings of `asked`, with the verdicts of diff. `read`: the exit code. An Error without a
// message: reading has printed it.
Result<PageRequest> ComparisonPage(const PageRequest& asked, ExitCode* read);

// The result of a check.

render::Report CheckReport(const CheckAnswer& answer);

}  // namespace heaprec::tools
