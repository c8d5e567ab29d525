// Allocation over time: of everything and of the largest groups, with the sampler's state and the heap.
//
// Needs two passes over the recordings. The first finds their time span and the largest groups, so that the second
// needs a Subset only for each step of these groups.
//
// Units:    ns since 1970.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/query/allocations/group_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// The times for which recordings have the requested data. Overlapping times count once, because rates add up.
//
// Units:    ns since 1970.
class CoveredTime {
 public:
  explicit CoveredTime(const std::vector<std::pair<uint64_t, uint64_t>>& spans);
  uint64_t Within(uint64_t begin_ns, uint64_t end_ns) const;

 private:
  std::map<uint64_t, uint64_t> spans_;  // begin -> end; disjoint
};

// A time span in equal steps.
//
// Units:    ns since 1970, so that recordings that overlap share the axis.
struct TimeAxis {
  uint64_t begin_ns = 0, step_ns = 1;
  size_t steps = 0;
  uint64_t before_ns = 0, after_ns = 0;  // additional length of the first and the last step

  // 146 years: a damaged recording may contain any times.
  static constexpr uint64_t kLongest = uint64_t{1} << 62;

  // Returns at most `most` steps, each a multiple of `least_ns`.
  static TimeAxis Of(uint64_t begin_ns, uint64_t end_ns, uint64_t least_ns, size_t most) {
    const uint64_t length = std::clamp<uint64_t>(end_ns - std::min(begin_ns, end_ns), 1, kLongest);
    const uint64_t least = std::clamp<uint64_t>(least_ns, 1, kLongest);
    const uint64_t step = Over(Over(length, least), std::max<uint64_t>(most, 1)) * least;
    return {begin_ns, step, static_cast<size_t>(Over(length, step))};
  }
  // Joins a first or last step that is covered for less than a quarter to its neighbour: its few samples would appear
  // as a peak or a drop.
  void JoinShortEnds(const CoveredTime& covered);
  uint64_t BeginOf(size_t step) const { return begin_ns + step_ns * step - (step == 0 ? before_ns : 0); }
  uint64_t EndOf(size_t step) const { return begin_ns + step_ns * (step + 1) + (step + 1 == steps ? after_ns : 0); }
  // Returns the step of `time_ns`, or the first or last step if it is outside.
  size_t StepOf(uint64_t time_ns) const {
    const uint64_t step = (time_ns - std::min(time_ns, begin_ns)) / step_ns;
    return static_cast<size_t>(std::min<uint64_t>(step, steps > 0 ? steps - 1 : 0));
  }

 private:
  // Rounded up.
  static uint64_t Over(uint64_t length, uint64_t part) { return length / part + (length % part > 0); }
};

// The first pass.
class TimeSpan : public ScanVisitor {
 public:
  // `stream`: the stream whose intervals form the steps. `grouping`: nullopt: no groups.
  TimeSpan(format::Stream stream, const std::optional<Grouping>& grouping);
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  TimeAxis AxisOf(size_t most_steps) const;
  const std::optional<Groups>& groups() const { return groups_; }

 private:
  const format::Stream stream_;
  std::optional<Groups> groups_;
  uint64_t start_ns_ = 0, start_of_first_ns_ = 0;  // of the current recording, and of the one with the first sample
  uint64_t begin_ns_ = std::numeric_limits<uint64_t>::max(), end_ns_ = 0;
  uint64_t interval_ns_ = 1;  // maximum
};

// The state of sampler and heap in one step.
struct StepState {
  uint64_t kept = 0, allowed = 0;  // samples, and the sum of the caps of the intervals
  uint64_t bytes = 0;              // counted or, without counts, represented by samples
  bool is_estimated = false;       // a part of them is represented by samples
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t heap_used = 0;  // maximum seen; 0: unknown
};

// The second pass.
class TimelineVisitor : public ScanVisitor {
 public:
  // `stream`: the stream whose sampler is shown. `keys`: the groups of `grouping` to show, the largest first.
  TimelineVisitor(const TimeAxis& axis, format::Stream stream, const std::optional<Grouping>& grouping,
                  std::vector<GroupTable::Key> keys);
  // A block that spans two steps is read from its samples.
  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override {
    return axis_.StepOf(begin_ns) == axis_.StepOf(end_ns - 1) && (!grouping_ || grouping_->takes_rows());
  }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const TimeAxis& axis() const { return axis_; }
  const GroupEstimates& EstimatesAt(size_t step) const { return all_.Of(static_cast<GroupTable::Key>(step)); }
  // Returns the estimates of the `group`-th key in a step.
  const GroupEstimates& EstimatesAt(size_t step, size_t group) const { return groups_.Of(CellKey(step, group)); }
  const std::vector<StepState>& states() const { return states_; }

 private:
  GroupTable::Key CellKey(size_t step, size_t group) const {
    return static_cast<GroupTable::Key>(group * axis_.steps + step);
  }
  void AddStates(const format::Block& block);
  size_t StepOf(uint64_t time_ns) const { return axis_.StepOf(start_ns_ + time_ns); }

  const TimeAxis axis_;
  const format::Stream stream_;
  std::optional<Grouping> grouping_;
  std::vector<uint32_t> place_of_key_;  // by key: index in `keys`
  GroupTable all_, groups_;
  std::vector<StepState> states_;
  std::vector<uint32_t> keys_;
  uint64_t start_ns_ = 0, interval_ns_ = 1, cap_ = 0;
};

// Allocation over time for reports and pictures: rates of everything and of the largest groups, sampler and heap.
struct Timeline {
  struct Series {
    std::string name;
    std::vector<Estimate> rates;  // by step, per covered second; unknown if nothing is covered
    double Most() const;
  };
  TimeAxis axis;
  bool counts_events = false;  // throws; otherwise bytes
  Series all;
  std::vector<Series> groups;
  std::vector<StepState> states;

  // Bytes; a step without a snapshot has those of the previous step.
  std::vector<double> HeapUsed() const;
  // For each step: samples per MiB, and the used part of its cap.
  std::vector<double> SamplesPerMib() const;
  std::vector<double> RateUsed() const;
};

Timeline TimelineOf(const TimelineVisitor& scan, const CoveredTime& covered, const std::vector<std::string>& groups,
                    bool counts_events);

// Makes both passes over the recordings of `scan`, with rates of the `most_groups` largest groups of `by`, if given.
ExitCode ReadTimeline(const std::optional<Grouping>& by, size_t most_groups, size_t most_steps, RecordingScan* scan,
                      Timeline* into);

}  // namespace heaprec::tools
