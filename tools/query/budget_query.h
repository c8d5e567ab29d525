// What each of several budgets is spent on: one group of samples for each, over the recordings of a scan.
//
// Threads:  one.
#pragma once

#include <vector>

#include "tools/analysis/group_table.h"
#include "tools/query/budget.h"
#include "tools/query/filter/stack_matcher.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

class BudgetVisitor final : public ScanVisitor {
 public:
  // Must outlive it.
  explicit BudgetVisitor(const std::vector<Budget>* budgets);

  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const GroupEstimates& Of(size_t budget) const { return tables_[budget].Of(0); }
  double seconds() const { return seconds_; }
  // A recording is of another recorder, whose weights are biased.
  bool is_imported() const { return is_imported_; }

 private:
  // Of a chunk's entries that were asked already.
  struct Known {
    Matches classes, stacks, threads;
    std::optional<StackMatch> any_frame;
  };
  bool Takes(const Budget& budget, Known* known, const format::Sample& sample, Names* names);

  const std::vector<Budget>& budgets_;
  std::vector<GroupTable> tables_;  // by budget, of one key
  std::vector<Known> known_;
  uint32_t chunk_ = format::kNone;
  size_t stacks_ = 0;
  double seconds_ = 0;
  bool is_imported_ = false;
};

}  // namespace heaprec::tools
