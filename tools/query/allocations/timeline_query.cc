#include "tools/query/allocations/timeline_query.h"

#include <algorithm>
#include <utility>

#include "tools/input/program_recording.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kNotWanted = 0xffffffff;

constexpr double kMib = 1 << 20;

double PerUnit(uint64_t count, double of) { return of > 0 ? static_cast<double>(count) / of : 0; }

}  // namespace

TimeSpan::TimeSpan(const std::optional<Grouping>& grouping) {
  if (grouping) groups_.emplace(*grouping, false);
}

void TimeSpan::Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) {
  start_ns_ = header.start_epoch_ns;
  interval_ns_ = std::max(interval_ns_, header.CapOf(MainStream(header)).interval_ns);
  if (groups_) groups_->Begin(matched_by);
}

void TimeSpan::Visit(const MatchedBlock& matched_block) {
  if (groups_) groups_->Visit(matched_block);
  if (matched_block.drawn.empty()) return;
  for (const WeightedSample* drawn : matched_block.drawn) {
    const uint64_t time_ns = start_ns_ + matched_block.block.samples[drawn->index].time_ns;
    begin_ns_ = std::min(begin_ns_, time_ns);
    end_ns_ = std::max(end_ns_, time_ns + 1);
  }
}

void TimeSpan::End(const Estimator& estimator, double) {
  if (groups_) groups_->End(estimator);
}

// From the interval of the first sample on: a step holds whole intervals.
TimeAxis TimeSpan::AxisOf(size_t most_steps) const {
  if (end_ns_ == 0) return {};
  const uint64_t since_start = (begin_ns_ - std::min(begin_ns_, start_ns_)) % interval_ns_;
  return TimeAxis::Of(begin_ns_ - since_start, end_ns_, interval_ns_, most_steps);
}

TimelineVisitor::TimelineVisitor(const TimeAxis& axis, const std::optional<Grouping>& grouping,
                                 std::vector<GroupTable::Key> keys)
    : axis_(axis), grouping_(grouping), states_(axis.steps) {
  for (size_t place = 0; place < keys.size(); ++place) {
    if (keys[place] >= place_of_key_.size()) place_of_key_.resize(keys[place] + size_t{1}, kNotWanted);
    place_of_key_[keys[place]] = static_cast<uint32_t>(place);
  }
}

void TimelineVisitor::Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) {
  start_ns_ = header.start_epoch_ns;
  interval_ns_ = std::max<uint64_t>(header.CapOf(MainStream(header)).interval_ns, 1);
  cap_ = header.interval_cap;
  all_.Start(matched_by);
  groups_.Start(matched_by);
  if (grouping_) grouping_->Start();
}

void TimelineVisitor::Visit(const MatchedBlock& matched_block) {
  if (axis_.steps == 0) return;
  AddStates(matched_block.block);
  if (grouping_) {
    grouping_->KeysOf(matched_block.block, matched_block.drawn, &matched_block.names, &matched_block.tree, &keys_);
  }
  for (size_t i = 0; i < matched_block.drawn.size(); ++i) {
    const WeightedSample& drawn = *matched_block.drawn[i];
    const size_t step = StepOf(matched_block.block.samples[drawn.index].time_ns);
    all_.Add(static_cast<GroupTable::Key>(step), drawn);
    if (!grouping_ || keys_[i] >= place_of_key_.size() || place_of_key_[keys_[i]] == kNotWanted) continue;
    groups_.Add(PlaceOf(step, place_of_key_[keys_[i]]), drawn);
  }
}

// Of the part of the recording that is shown.
void TimelineVisitor::AddStates(const format::Block& block) {
  const uint64_t end_ns = axis_.begin_ns + axis_.step_ns * axis_.steps;
  const auto is_shown = [&](uint64_t time_ns) {
    return start_ns_ + time_ns >= axis_.begin_ns && start_ns_ + time_ns < end_ns;
  };
  for (const format::Interval& interval : block.intervals) {
    const uint64_t time_ns = interval.index * interval_ns_;
    if (interval.stream != format::Stream::kAllocations || !is_shown(time_ns)) continue;
    StepState& state = states_[StepOf(time_ns)];
    state.kept += interval.kept;
    state.allowed += cap_;
    state.bytes += interval.bytes;
  }
  for (const format::ProcessState& look : block.states) {
    if (!is_shown(look.time_ns) || !format::IsOfHeap(look.kind)) continue;
    StepState& state = states_[StepOf(look.time_ns)];
    state.pauses += look.pauses;
    state.paused_ns += look.paused_ns;
    state.heap_used = std::max(state.heap_used, look.used);
  }
}

void TimelineVisitor::End(const Estimator& estimator, double) {
  all_.Close(estimator);
  groups_.Close(estimator);
}

double Timeline::Series::Most() const {
  double most = 0;
  for (const Estimate& rate : rates) most = std::max(most, rate.value);
  return most;
}

std::vector<double> Timeline::HeapUsed() const {
  std::vector<double> used;
  for (const StepState& state : states) {
    const double before = used.empty() ? 0 : used.back();
    used.push_back(state.heap_used > 0 ? static_cast<double>(state.heap_used) : before);
  }
  return used;
}

std::vector<double> Timeline::SamplesPerMib() const {
  std::vector<double> values;
  for (const StepState& state : states) values.push_back(PerUnit(state.kept, static_cast<double>(state.bytes) / kMib));
  return values;
}

std::vector<double> Timeline::RateUsed() const {
  std::vector<double> values;
  for (const StepState& state : states) values.push_back(PerUnit(state.kept, static_cast<double>(state.allowed)));
  return values;
}

Timeline TimelineOf(const TimelineVisitor& scan, const std::vector<std::string>& groups, bool counts_events) {
  Timeline timeline{
      .axis = scan.axis(), .counts_events = counts_events, .all = {}, .groups = {}, .states = scan.states()};
  const double per_second = 1 / scan.axis().Seconds();
  timeline.all.name = counts_events ? "all, events/s" : "all, bytes/s";
  for (size_t step = 0; step < scan.axis().steps; ++step) {
    timeline.all.rates.push_back(Scaled(scan.InStep(step).bytes, per_second));
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    timeline.groups.push_back({groups[group], {}});
    for (size_t step = 0; step < scan.axis().steps; ++step) {
      timeline.groups.back().rates.push_back(Scaled(scan.InStep(step, group).bytes, per_second));
    }
  }
  return timeline;
}

ExitCode ReadTimeline(const std::optional<Grouping>& by, size_t most_groups, size_t most_steps, RecordingScan* scan,
                      Timeline* into) {
  RecordingScan first = *scan;
  NamePool names;
  CallTree tree(&names, first.TreeOptions());
  TimeSpan span(by);
  const ExitCode read = first.Run(&tree, &span);
  if (read == ExitCode::kUnreadable) return read;
  std::vector<GroupTable::Key> keys;
  std::vector<std::string> groups;
  if (by) {
    for (const GroupTable::Row* row : Ranked(*span.groups(), {.sort = "bytes", .limit = most_groups}, tree)) {
      keys.push_back(row->key);
      groups.push_back(by->NameOf(row->key, tree));
    }
  }
  TimelineVisitor steps(span.AxisOf(most_steps), by, std::move(keys));
  scan->BeQuiet();  // the first pass has said what is damaged
  if (scan->Run(&tree, &steps) == ExitCode::kUnreadable) return ExitCode::kUnreadable;
  *into = TimelineOf(steps, groups, scan->of_exceptions());
  return read;
}

}  // namespace heaprec::tools
