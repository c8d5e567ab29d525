// Groups of samples by any key that is a small number, each with its estimates: over one recording or several.
//
//   GroupTable table(OrderLevel::kClass);
//   table.Start(matched_by);                                  // with every recording
//   for (sample) table.Add(key of it, drawn);                // samples in the order in which Design gives them
//   table.Close(estimator);                                  // after the recording's last block
//   for (const GroupTable::Row& row : table.Rows()) ...
//
// A sample may be in several groups, but in each once.
//
// Memory:   one Subset for each group of the recording at hand, GroupEstimates for each group of those before.
// Threads:  one.
// Maths:    docs/estimates.md#variance: which grain a key needs
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/estimate/subset.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

class GroupTable {
 public:
  using Key = uint32_t;
  struct Row {
    Key key = 0;
    GroupEstimates estimates;
  };

  // `grain`: the finest that has a say in which group a sample belongs to, and what a group holds (Subset).
  explicit GroupTable(OrderLevel level, Subset::Holds holds = Subset::Holds::kAny) : grain_(level), holds_(holds) {}

  OrderLevel level() const { return grain_; }
  // `matched_by`: the finest grain that has a say in which samples are taken at all; nullopt: all are.
  void Start(std::optional<OrderLevel> matched_by);
  void Add(Key key, const WeightedSample& drawn);
  // Of each the sample with the same place.
  void Add(std::span<const Key> keys, std::span<const WeightedSample* const> drawn);
  // Adds what the census of the current recording counted for the group. Close uses it instead of the samples if the
  // census counted every class and no filter is set.
  void Count(Key key, double bytes, double objects);
  void Close(const Estimator& estimator);

  // Of the recordings that are closed, as they first came.
  const std::vector<Row>& Rows() const { return rows_; }
  // Of the group, which may be one without samples; and of any such group.
  const GroupEstimates& Of(Key key) const;
  const GroupEstimates& Unseen() const { return unseen_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  Subset& SubsetOf(Key key);
  const OrderLevel grain_;
  const Subset::Holds holds_;
  OrderLevel grain_now_ = OrderLevel::kThread;
  bool takes_all_ = true;
  std::vector<uint32_t> slots_;  // by key: place in rows_ and subsets_
  std::vector<Subset> subsets_;  // of the recording at hand
  struct Counted {
    Key key;
    double bytes, objects;
  };
  std::vector<Counted> counted_;  // of the recording at hand
  std::vector<Row> rows_;
  double whole_ = 0;  // bytes of the recordings that are closed
  GroupEstimates unseen_;
};

}  // namespace heaprec::tools
