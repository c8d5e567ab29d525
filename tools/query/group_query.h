// The samples of a scan in groups: a table by class, by site, by method with whom it called, ...
//
// Threads:  one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/group_table.h"
#include "tools/analysis/grouping.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

class Groups {
 public:
  // `own_frames`: lines are told apart, or frames hidden. By method the tree must fold: a method counts once in a
  // stack.
  Groups(Grouping grouping, bool own_frames);

  void Begin(std::optional<OrderLevel> matched_by);
  void Visit(const MatchedBlock& matched_block);
  void End(const Estimator& estimator);

  const Grouping& grouping() const { return grouping_; }
  OrderLevel finest() const { return cumulative_ ? OrderLevel::kStack : own_.level(); }
  const GroupTable& own() const { return own_; }
  // Of the samples of the last block that was seen, in their order.
  const std::vector<GroupTable::Key>& keys() const { return keys_; }
  // By method: of each, with what the methods that it called allocated; nullptr by anything else.
  const GroupTable* cumulative() const { return cumulative_ ? &*cumulative_ : nullptr; }

 private:
  void AddCumulative(const MatchedBlock& matched_block);

  Grouping grouping_;
  GroupTable own_;
  std::optional<GroupTable> cumulative_;
  std::vector<GroupTable::Key> keys_;
};

// Which rows are shown, and in which order: --sort, --limit, --min-share.
struct Ranking {
  std::string sort = "bytes";  // bytes, objects, mean-size, samples, name; cumulative, by method
  size_t limit = 0;            // 0: all
  double min_share = 0;        // from 0 to 1
};
const std::vector<std::string>& SortKeys();

// The rows of `of` (of the cumulative table, if that is what is sorted by), the largest first.
std::vector<const GroupTable::Row*> Ranked(const Groups& of, const Ranking& ranking, const CallTree& tree);

}  // namespace heaprec::tools
