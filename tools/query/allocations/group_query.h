// Samples of a scan in groups: tables by class, by site, by method with callees, ...
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/input/dictionary_names.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// Objects outside of TLABs, which were counted.
struct OutsideSums {
  uint64_t objects = 0, bytes = 0;
  void Add(const format::Row& row) { objects += row.points, bytes += row.seen; }
};

class Groups {
 public:
  // If grouped by method, the tree must fold, so that a method counts once per stack.
  explicit Groups(Grouping grouping);

  void Begin();
  void Visit(const MatchedBlock& matched_block);
  void End(const Estimator& estimator);

  const Grouping& grouping() const { return grouping_; }
  // Whether rows are sufficient: they do not contain the callers of a site.
  bool takes_rows() const { return grouping_.takes_rows() && !cumulative_; }
  const GroupTable& own() const { return own_; }
  // Keys of the last block's samples, in order.
  const std::vector<GroupTable::Key>& keys() const { return keys_; }
  // If grouped by method: each method including its callees; otherwise nullptr.
  const GroupTable* cumulative() const { return cumulative_ ? &*cumulative_ : nullptr; }
  // If grouped by class: objects counted outside of TLABs; empty: none.
  const std::unordered_map<GroupTable::Key, OutsideSums>& outside() const { return outside_; }

 private:
  void AddCumulative(const MatchedBlock& matched_block);

  Grouping grouping_;
  GroupTable own_;
  std::optional<GroupTable> cumulative_;
  std::unordered_map<GroupTable::Key, OutsideSums> outside_;
  std::vector<GroupTable::Key> keys_;
};

// Which rows are shown, and in which order: --sort, --limit, --min-share.
struct Ranking {
  std::string sort = "bytes";          // bytes, objects, mean-size, points, name; by method also cumulative
  size_t limit = 0;                    // 0: all
  double min_share = 0;                // from 0 to 1
  std::vector<std::string> sources{};  // folders with sources, for the lines of sites
};
const std::vector<std::string>& SortKeys();

// Returns the rows of `of`, by method those of the cumulative table, ordered by `ranking`.
std::vector<const GroupTable::Row*> Ranked(const Groups& of, const Ranking& ranking, const CallTree& tree);

// Several groupings of the same samples in one scan.
class GroupsScan : public ScanVisitor {
 public:
  explicit GroupsScan(const std::vector<Grouping>& groupings) : tables_(groupings.begin(), groupings.end()) {}
  bool takes_rows(uint64_t, uint64_t) const override { return std::ranges::all_of(tables_, &Groups::takes_rows); }
  // Rows of a site do not distinguish sizes: scaling its bytes and its objects would change the sizes.
  bool calibrates() const override {
    return std::ranges::none_of(tables_, [](const Groups& one) { return one.grouping().by() == By::kSize; });
  }
  void Begin(const format::FileHeader&) override {
    for (Groups& one : tables_) one.Begin();
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

// The sums of the groups of one grouping, without estimates.
struct GroupSums {
  explicit GroupSums(By by, Subset::Holds holding = Subset::Holds::kAny) : grouping(by), holds(holding) {}
  void Add(const format::Block& block, std::span<const WeightedSample* const> drawn, Names* names, CallTree* tree);

  Grouping grouping;
  Subset::Holds holds;
  std::unordered_map<GroupTable::Key, Subset> sums;
};

// Bytes and objects by class and by site, computed from the blocks of a recording in one pass: the tables of summary.
//
// A site is the first frame that is not an allocation primitive (allocation_primitives.h), as in top.
//
// Units:    bytes and objects; shares of all bytes, from 0 to 1.
// Maths:    docs/estimates.md#estimates
class ClassSiteTotals {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;
  using Groups = std::vector<std::pair<std::string, Subset>>;  // with their names, in no order

  // `keeps`: whether a sample is included; empty: all are. `merged`: as in NamePool.
  explicit ClassSiteTotals(Keeps keeps = {}, std::shared_ptr<MergedNames> merged = nullptr);
  MergedNames* merged() const { return names_.merged(); }

  // Adds the next block, with the result of Design::Add; `names` must have entered it.
  void Add(const format::Block& block, std::span<const WeightedSample> drawn, Names* names);

  // Call after the last block.
  Groups classes() const { return ByName(classes_); }
  Groups sites() const { return ByName(sites_); }
  // The sum of all included samples; nullptr: all are included.
  const Subset* matched() const { return keeps_ ? &matched_ : nullptr; }

 private:
  Groups ByName(const GroupSums& of) const;

  const Keeps keeps_;
  Subset matched_;
  NamePool names_;
  CallTree tree_;  // finds the sites
  GroupSums classes_, sites_{By::kSite};
};

}  // namespace heaprec::tools
