// Whether budgets are kept, and what is more than in a baseline: estimates as verdicts.
//
// Context:  pure functions.
// Maths:    docs/estimates.md#differences
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/estimate/group_estimates.h"
#include "tools/query/budget.h"
#include "tools/query/comparison.h"
#include "tools/report/check_report.h"

namespace heaprec::tools {

// What a recording's estimates are divided by; 0: not known.
struct Normalization {
  double seconds = 0, operations = 0, cpu_seconds = 0;
};

// What is counted: bytes, or exceptions, of which bytes and objects are the same.
enum class Counted : bool { kBytes, kEvents };

// A budget of nothing is broken by one sample.
CheckResult CheckBudget(const Budget& budget, const GroupEstimates& estimates, const Normalization& normalization,
                        Counted counted);

// One side of a baseline: the estimates of each subject, and the rows, in each of its runs.
struct SideOfBaseline {
  struct Run {
    std::vector<GroupEstimates> estimates;  // by subject
    const GroupTable* table = nullptr;      // null: no rows are compared
    const ProgressBlocks* progress = nullptr;
    const GroupTable* parts = nullptr;  // as TableOfRun
    Normalization normalization;
  };
  std::vector<Run> runs;
};

struct Baseline {
  SideOfBaseline before, now;
  Per per = Per::kTotal;
  double most = 0;    // so much more is allowed: 0.03
  double fdr = 0.05;  // of rows
  Counted counted = Counted::kBytes;

  Scale ScaleOf(const Normalization& normalization, Budget::Unit unit) const;
  std::vector<Estimate> ValuesOf(const SideOfBaseline& side, size_t subject, Budget::Unit unit) const;
  std::vector<TableOfRun> TablesOf(const SideOfBaseline& side) const;
};

// `budget`: the subject, as the estimates have it at `index`.
CheckResult CheckRegression(const Baseline& baseline, const Budget& budget, size_t index);

// Of all rows of the grouping, those that are more, judged together.
CheckedRows CheckRows(const Baseline& baseline, const Grouping& by, const CallTree& tree);

}  // namespace heaprec::tools
