// Whether budgets are kept, and what is more than in a baseline: figures as verdicts.
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

// What a recording's figures are divided by; 0: not known.
struct Exposure {
  double seconds = 0, operations = 0;
};

// What is counted: bytes, or exceptions, of which bytes and objects are the same.
enum class Counted : bool { kBytes, kEvents };

// A budget of nothing is broken by one sample.
Checked CheckBudget(const Budget& budget, const Figures& figures, const Exposure& exposure, Counted counted);

// The two sides of a baseline: per operation if these are known, else per second.
struct Baseline {
  Exposure before, now;
  double most = 0;    // so much more is allowed: 0.03
  double fdr = 0.05;  // of rows
  Counted counted = Counted::kBytes;

  Scale ScaleOf(const Exposure& exposure, Budget::Unit unit) const;
};

Checked CheckRegression(const Baseline& baseline, const Budget& budget, const Figures& before, const Figures& now);

// Of all rows of the grouping, those that are more, judged together.
CheckedRows CheckRows(const Baseline& baseline, const Grouping& by, const GroupTable& before, const GroupTable& now,
                      const CallTree& tree);

}  // namespace heaprec::tools
