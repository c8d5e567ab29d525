// Allocation over time: in all, and of the largest groups; beside it what the sampler did and what the heap held.
//
// In two passes over the recordings: the first finds how long they are and which groups are the largest, so that the
// second needs one Subset for each step of each of those only.
//
// Units:    ns since 1970.
// Threads:  one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tools/analysis/time_axis.h"
#include "tools/query/group_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

// The first pass.
class TimeSpan : public ScanVisitor {
 public:
  // `grouping`: nullopt: no groups.
  explicit TimeSpan(const std::optional<Grouping>& grouping);
  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  TimeAxis AxisOf(size_t most_steps) const;
  const std::optional<Groups>& groups() const { return groups_; }

 private:
  std::optional<Groups> groups_;
  uint64_t start_ns_ = 0;  // of the recording at hand
  uint64_t begin_ns_ = std::numeric_limits<uint64_t>::max(), end_ns_ = 0;
  uint64_t interval_ns_ = 1;  // the longest
};

// What the sampler and the heap did in a step.
struct StepState {
  uint64_t kept = 0, allowed = 0;  // samples, and what the caps of the intervals allow
  uint64_t bytes = 0;              // counted
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t heap_used = 0;  // the most that was seen; 0: not seen
};

// The second pass.
class TimelineVisitor : public ScanVisitor {
 public:
  // Keys of `grouping`, whose rates are wanted, the largest first.
  TimelineVisitor(const TimeAxis& axis, const std::optional<Grouping>& grouping, std::vector<GroupTable::Key> keys);
  void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const TimeAxis& axis() const { return axis_; }
  const GroupEstimates& InStep(size_t step) const { return all_.Of(static_cast<GroupTable::Key>(step)); }
  // Of the `group`-th key.
  const GroupEstimates& InStep(size_t step, size_t group) const { return groups_.Of(PlaceOf(step, group)); }
  const std::vector<StepState>& states() const { return states_; }

 private:
  GroupTable::Key PlaceOf(size_t step, size_t group) const {
    return static_cast<GroupTable::Key>(group * axis_.steps + step);
  }
  void AddStates(const format::Block& block);
  size_t StepOf(uint64_t time_ns) const { return axis_.StepOf(start_ns_ + time_ns); }

  const TimeAxis axis_;
  std::optional<Grouping> grouping_;
  std::vector<uint32_t> place_of_key_;  // by key: among those wanted
  GroupTable all_{OrderLevel::kThread}, groups_{OrderLevel::kThread};
  std::vector<StepState> states_;
  std::vector<uint32_t> keys_;
  uint64_t start_ns_ = 0, interval_ns_ = 1, cap_ = 0;
};

}  // namespace heaprec::tools
