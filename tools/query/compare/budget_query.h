// What each of several budgets is spent on: one group of samples for each, over the recordings of a scan.
//
// Threads:  one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/group_table.h"
#include "tools/analysis/grouping.h"
#include "tools/query/compare/budget.h"
#include "tools/query/compare/comparison.h"
#include "tools/query/filter/stack_matcher.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

class BudgetVisitor final : public ScanVisitor {
 public:
  // Must outlive it.
  explicit BudgetVisitor(const std::vector<Budget>* budgets);

  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override;
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
  bool chooses_all_ = true, is_counted_ = true;
};

// What a recording spends on budgets, and on each row that a baseline is compared by, in one pass.
//
//   BudgetTotals now(*RecordingScan::Parse(options), &budgets, {Grouping(By::kSite)}, false);
//   now.Read(&tree);
//
// Threads:  one.
// Failure:  Read's, as RecordingScan::Run's.
class BudgetTotals final : public ScanVisitor {
 public:
  // `budgets` must outlive it. `own_frames`: as Groups.
  BudgetTotals(RecordingScan scan, const std::vector<Budget>* budgets, const std::vector<Grouping>& rows,
               bool own_frames)
      : scan_(std::move(scan)),
        asked_(*budgets),
        budgets_(budgets),
        rows_(rows, own_frames),
        has_rows_(!rows.empty()) {}

  ExitCode Read(CallTree* tree) { return scan_.Run(tree, this); }
  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override {
    budgets_.Begin(header, matched_by);
    rows_.Begin(header, matched_by);
  }
  void Visit(const MatchedBlock& matched_block) override {
    budgets_.Visit(matched_block);
    rows_.Visit(matched_block);
  }
  void End(const Estimator& estimator, double seconds) override {
    budgets_.End(estimator, seconds);
    rows_.End(estimator, seconds);
  }

  // The total is what was counted, where it was.
  GroupEstimates Of(size_t budget) const {
    return asked_[budget].subject == Budget::Subject::kTotal ? scan_.matched() : budgets_.Of(budget);
  }
  GroupEstimates All() const { return scan_.matched(); }
  size_t budgets() const { return asked_.size(); }
  const ComparisonSide& rows() const { return rows_; }
  bool has_rows() const { return has_rows_; }
  // 0: not known.
  double cpu_seconds() const { return scan_.cpu() ? scan_.cpu()->process : 0; }
  double seconds() const { return budgets_.seconds(); }
  // A recording is of another recorder, whose weights are biased.
  bool is_imported() const { return budgets_.is_imported(); }
  // RecordingScan::Doubt
  std::string TrustVerdict() const { return scan_.TrustVerdict(); }

 private:
  RecordingScan scan_;
  const std::vector<Budget>& asked_;
  BudgetVisitor budgets_;
  ComparisonSide rows_;
  bool has_rows_;
};

}  // namespace heaprec::tools
