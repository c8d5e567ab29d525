// `heaprec diff` and `check` as reports.
#pragma once

#include <string>
#include <vector>

#include "tools/query/compare/budget_check.h"
#include "tools/query/compare/diff_query.h"
#include "tools/render/report.h"

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
// The share of time and CPU time that collections took on each side.
std::vector<render::Line> GcLines(const DiffSide& before, const DiffSide& after);
// "same" for changes that may be noise.
const char* VerdictName(Verdict verdict);

// The result of a check.

render::Report CheckReport(const CheckAnswer& answer);

}  // namespace heaprec::tools
