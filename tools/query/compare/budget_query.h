// What each of several budgets is spent on: one group of samples for each, over the recordings of a scan.
//
// Threads:  one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/groups/grouping.h"
#include "tools/query/compare/budget.h"
#include "tools/query/filter/stack_matcher.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

class BudgetVisitor final : public ScanVisitor {
 public:
  // Must outlive it.
  explicit BudgetVisitor(const std::vector<Budget>* budgets);

  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override;
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const GroupEstimates& Of(size_t budget) const { return tables_[budget].Of(0); }
  // Whether it is of classes that complete censuses counted.
  bool IsCounted(size_t budget) const {
    return is_counted_ && budgets_[budget].subject == Budget::Subject::kClass &&
           !known_[budget].counted.has_stack_chunks();
  }
  // Whether only stack chunks may belong to the budget; the recorder counts them and never samples them.
  bool MissesStackChunks(size_t budget) const;
  double seconds() const { return seconds_; }
  // A recording is of another recorder, whose weights are biased.
  bool is_imported() const { return is_imported_; }

 private:
  // Cached matches for entries of the current chunk.
  struct Known {
    Matches classes, stacks, threads;
    std::optional<StackMatch> any_frame;
    CountedClasses counted;
  };
  bool Takes(const Budget& budget, Known* known, const format::Sample& sample, const MatchedBlock& in);

  const std::vector<Budget>& budgets_;
  std::vector<GroupTable> tables_;  // by budget, of one key
  std::vector<Known> known_;
  uint32_t chunk_ = format::kNone;
  size_t stacks_ = 0;
  double seconds_ = 0;
  bool is_imported_ = false, has_census_ = false, has_stack_chunks_ = false;
  bool is_counted_ = true;
};

}  // namespace heaprec::tools
