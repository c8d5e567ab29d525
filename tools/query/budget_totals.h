// What a recording spends on budgets, and on each row that a baseline is compared by, in one pass.
//
//   Spending now(*Survey::Parse(options), &budgets, {Grouping(By::kSite)}, false);
//   now.Read(&tree);
//
// Threads:  one.
// Failure:  Read's, as Survey::Run's.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/grouping.h"
#include "tools/analysis/imported.h"
#include "tools/query/budget.h"
#include "tools/query/budget_query.h"
#include "tools/query/comparison.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

class Spending final : public Surveyor {
 public:
  // `budgets` must outlive it. `own_frames`: as Groups.
  Spending(Survey survey, const std::vector<Budget>* budgets, const std::vector<Grouping>& rows, bool own_frames)
      : survey_(std::move(survey)), asked_(*budgets), budgets_(budgets), rows_(rows, own_frames) {}

  ExitCode Read(CallTree* tree) { return survey_.Run(tree, this); }
  void Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) override {
    is_imported_ |= header.source == kImported;
    budgets_.Begin(header, chosen_by);
    rows_.Begin(header, chosen_by);
  }
  void See(const Sighting& sighting) override {
    budgets_.See(sighting);
    rows_.See(sighting);
  }
  void End(const Estimator& estimator, double seconds) override {
    budgets_.End(estimator, seconds);
    rows_.End(estimator, seconds);
  }

  // The total is what was counted, where it was.
  Figures Of(size_t budget) const {
    return asked_[budget].subject == Budget::Subject::kTotal ? AllOf(survey_) : budgets_.Of(budget);
  }
  const Side& rows() const { return rows_; }
  double seconds() const { return budgets_.seconds(); }
  // A recording is of another recorder, whose weights are biased.
  bool is_imported() const { return is_imported_; }
  // Survey::Doubt
  std::string Doubt() const { return survey_.Doubt(); }

 private:
  Survey survey_;
  const std::vector<Budget>& asked_;
  BudgetSurvey budgets_;
  Side rows_;
  bool is_imported_ = false;
};

}  // namespace heaprec::tools
