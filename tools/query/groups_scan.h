// Several groupings of the same samples in one scan.
//
// Threads:  one.
#pragma once

#include <algorithm>
#include <vector>

#include "tools/query/group_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

class GroupsScan : public ScanVisitor {
 public:
  // `own_frames`: as Groups.
  GroupsScan(const std::vector<Grouping>& groupings, bool own_frames) {
    for (const Grouping& grouping : groupings) tables_.emplace_back(grouping, own_frames);
  }
  OrderLevel finest() const override {
    OrderLevel finest = OrderLevel::kClass;
    for (const Groups& one : tables_) finest = std::max(finest, one.finest());
    return finest;
  }
  void Begin(const format::FileHeader&, std::optional<OrderLevel> matched_by) override {
    for (Groups& one : tables_) one.Begin(matched_by);
  }
  void Visit(const MatchedBlock& matched_block) override {
    for (Groups& one : tables_) one.Visit(matched_block);
  }
  void End(const Estimator& estimator, double) override {
    for (Groups& one : tables_) one.End(estimator);
  }
  const std::vector<Groups>& tables() const { return tables_; }

 private:
  std::vector<Groups> tables_;
};

}  // namespace heaprec::tools
