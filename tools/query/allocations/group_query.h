// The samples of a scan in groups: a table by class, by site, by method with whom it called, ...
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

// Objects outside of TLABs that were counted.
struct OutsideSums {
  uint64_t objects = 0, bytes = 0;
  void Add(const format::Row& row) { objects += row.points, bytes += row.seen; }
};

class Groups {
 public:
  // By method the tree must fold: a method counts once in a stack.
  explicit Groups(Grouping grouping);

  void Begin();
  void Visit(const MatchedBlock& matched_block);
  void End(const Estimator& estimator);

  const Grouping& grouping() const { return grouping_; }
  // Whether rows are enough: they do not tell who called a site.
  bool takes_rows() const { return grouping_.takes_rows() && !cumulative_; }
  const GroupTable& own() const { return own_; }
  // Keys of the last block's samples, in their order.
  const std::vector<GroupTable::Key>& keys() const { return keys_; }
  // By method: of each, with what the methods that it called allocated; nullptr by anything else.
  const GroupTable* cumulative() const { return cumulative_ ? &*cumulative_ : nullptr; }
  // By class: what was counted outside of TLABs; empty: nothing was.
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
  std::string sort = "bytes";  // bytes, objects, mean-size, points, name; cumulative, by method
  size_t limit = 0;            // 0: all
  double min_share = 0;        // from 0 to 1
};
const std::vector<std::string>& SortKeys();

// The rows of `of`, by method those of the cumulative table, the largest first.
std::vector<const GroupTable::Row*> Ranked(const Groups& of, const Ranking& ranking, const CallTree& tree);

// Several groupings of the same samples in one scan.
class GroupsScan : public ScanVisitor {
 public:
  explicit GroupsScan(const std::vector<Grouping>& groupings) : tables_(groupings.begin(), groupings.end()) {}
  bool takes_rows(uint64_t, uint64_t) const override { return std::ranges::all_of(tables_, &Groups::takes_rows); }
  // Within a site rows do not tell sizes apart: scaled by its bytes and by its objects, a size would be another one.
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

// What was allocated by class and by site, folded from the blocks of a recording in one pass: the tables of summary.
//
// A site is the method that allocated: the first frame that does not only carry the allocation out for its caller
// (allocation_primitives.h), as in top.
//
// Units:    bytes and objects; shares of all bytes, from 0 to 1.
// Maths:    docs/estimates.md#estimates
class ClassSiteTotals {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Groups = std::unordered_map<std::string, Subset, Hash, std::equal_to<>>;

  // `keeps`: of which samples; empty: of all. `merged`: as NamePool.
  explicit ClassSiteTotals(Keeps keeps = {}, std::shared_ptr<MergedNames> merged = nullptr);
  MergedNames* merged() const { return site_names_.merged(); }

  // The next block, what Design::Add gave for it, and its names: after they have entered it.
  void Add(const format::Block& block, std::span<const WeightedSample> drawn, Names* names);

  // After the last block.
  const Groups& classes() const { return classes_; }
  const Groups& sites() const { return sites_; }
  // All that is kept; nullptr: everything is.
  const Subset* matched() const { return keeps_ ? &matched_ : nullptr; }

 private:
  void Enter(const format::Block& block, Names* names);
  static Subset* GroupOf(std::string_view name, Subset::Holds holds, Groups* groups);

  const Keeps keeps_;
  Subset matched_;
  Groups classes_, sites_;
  NamePool site_names_;
  CallTree stacks_;               // finds the sites
  std::vector<Subset*> site_of_;  // by name; nullptr: not looked for yet
  // Cache for the current chunk, by class; likewise.
  uint32_t chunk_ = format::kNone;
  std::vector<Subset*> class_of_;
};

}  // namespace heaprec::tools
