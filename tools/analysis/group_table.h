// Groups samples by any key that is a small number, and estimates each group over one or several recordings.
//
//   GroupTable table;
//   table.Start();                                           // at the start of every recording
//   for (sample) table.Add(key of it, drawn);
//   table.Close(estimator);                                  // after the recording's last block
//   for (const GroupTable::Row& row : table.Rows()) ...
//
// A sample may be in several groups, but only once in each.
//
// Memory:   one Subset for each group of the current recording, GroupEstimates for each group of earlier ones.
// Threads:  one.
#pragma once

#include <cstdint>
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

  // `holds`: what a group holds.
  explicit GroupTable(Subset::Holds holds = Subset::Holds::kAny) : holds_(holds) {}

  void Start();
  void Add(Key key, const WeightedSample& drawn);
  // Adds each sample to the group of the key at the same position.
  void Add(std::span<const Key> keys, std::span<const WeightedSample* const> drawn);
  // Adds the bytes and objects that the census of the current recording counted for the group. If the census counted
  // every class and no filter is set, Close uses them instead of the samples.
  void Count(Key key, double bytes, double objects);
  void Close(const Estimator& estimator);

  // Rows of all closed recordings, in the order of their first sample or count.
  const std::vector<Row>& Rows() const { return rows_; }
  // Estimates of the group, which may have no samples; Unseen: of any group without samples.
  const GroupEstimates& Of(Key key) const;
  const GroupEstimates& Unseen() const { return unseen_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  Subset& SubsetOf(Key key);
  const Subset::Holds holds_;
  std::vector<uint32_t> slots_;  // by key: index in rows_ and subsets_
  std::vector<Subset> subsets_;  // of the current recording
  struct Counted {
    Key key;
    double bytes, objects;
  };
  std::vector<Counted> counted_;  // of the current recording
  std::vector<Row> rows_;
  double whole_ = 0;  // bytes of the closed recordings
  GroupEstimates unseen_;
};

}  // namespace heaprec::tools
