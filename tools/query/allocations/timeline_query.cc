#include "tools/query/allocations/timeline_query.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/analysis/totals/totals.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

constexpr uint32_t kNotWanted = 0xffffffff;

constexpr double kMib = 1 << 20;

// A step at an end must be covered for at least 1 / kLeastPart of its length, or it is joined to its neighbour.
constexpr uint64_t kLeastPart = 4;

double PerUnit(uint64_t count, double of) { return of > 0 ? static_cast<double>(count) / of : 0; }

// For a time without data the rate is unknown, not 0.
Estimate PerSecond(const Estimate& of, uint64_t covered_ns) {
  return covered_ns > 0 ? Scaled(of, 1e9 / static_cast<double>(covered_ns)) : kUnknownEstimate;
}

}  // namespace

CoveredTime::CoveredTime(const std::vector<std::pair<uint64_t, uint64_t>>& spans) {
  for (auto [begin_ns, end_ns] : spans) {
    if (begin_ns >= end_ns) continue;
    auto at = spans_.upper_bound(begin_ns);
    if (at != spans_.begin() && std::prev(at)->second >= begin_ns) begin_ns = (--at)->first;
    for (; at != spans_.end() && at->first <= end_ns; at = spans_.erase(at)) end_ns = std::max(end_ns, at->second);
    spans_.emplace(begin_ns, end_ns);
  }
}

uint64_t CoveredTime::Within(uint64_t begin_ns, uint64_t end_ns) const {
  uint64_t covered_ns = 0;
  for (const auto& [begin, end] : spans_) {
    const uint64_t from_ns = std::max(begin, begin_ns), to_ns = std::min(end, end_ns);
    if (from_ns < to_ns) covered_ns += to_ns - from_ns;
  }
  return covered_ns;
}

void TimeAxis::JoinShortEnds(const CoveredTime& covered) {
  const auto covered_ns = [&](size_t step) { return covered.Within(BeginOf(step), EndOf(step)); };
  const auto joins = [&](size_t step, size_t neighbour) {
    return covered_ns(step) < step_ns / kLeastPart && covered_ns(neighbour) > 0;
  };
  if (steps > 1 && joins(steps - 1, steps - 2)) {
    --steps;
    after_ns = step_ns;
  }
  if (steps > 1 && joins(0, 1)) {
    --steps;
    before_ns = step_ns;
    begin_ns += step_ns;
  }
}

TimeSpan::TimeSpan(format::Stream stream, const std::optional<Grouping>& grouping) : stream_(stream) {
  if (grouping) groups_.emplace(*grouping);
}

void TimeSpan::Begin(const format::FileHeader& header) {
  start_ns_ = header.start_epoch_ns;
  interval_ns_ = std::max(interval_ns_, header.CapOf(stream_).interval_ns);
  if (groups_) groups_->Begin();
}

void TimeSpan::Visit(const MatchedBlock& matched_block) {
  if (groups_) groups_->Visit(matched_block);
  if (matched_block.drawn.empty()) return;
  for (const WeightedSample* drawn : matched_block.drawn) {
    const uint64_t time_ns = start_ns_ + matched_block.block.samples[drawn->index].time_ns;
    if (time_ns < begin_ns_) {
      begin_ns_ = time_ns;
      start_of_first_ns_ = start_ns_;
    }
    end_ns_ = std::max(end_ns_, time_ns + 1);
  }
}

void TimeSpan::End(const Estimator& estimator, double) {
  if (groups_) groups_->End(estimator);
}

// Starts at the interval of the first sample, because a step contains whole intervals.
TimeAxis TimeSpan::AxisOf(size_t most_steps) const {
  if (end_ns_ == 0) return {};
  const uint64_t since_start = (begin_ns_ - std::min(begin_ns_, start_of_first_ns_)) % interval_ns_;
  return TimeAxis::Of(begin_ns_ - since_start, end_ns_, interval_ns_, most_steps);
}

TimelineVisitor::TimelineVisitor(const TimeAxis& axis, format::Stream stream, const std::optional<Grouping>& grouping,
                                 std::vector<GroupTable::Key> keys)
    : axis_(axis), stream_(stream), grouping_(grouping), states_(axis.steps) {
  for (size_t place = 0; place < keys.size(); ++place) {
    if (keys[place] >= place_of_key_.size()) place_of_key_.resize(keys[place] + size_t{1}, kNotWanted);
    place_of_key_[keys[place]] = static_cast<uint32_t>(place);
  }
}

void TimelineVisitor::Begin(const format::FileHeader& header) {
  start_ns_ = header.start_epoch_ns;
  const format::StreamCap cap = header.CapOf(stream_);
  interval_ns_ = std::max<uint64_t>(cap.interval_ns, 1);
  cap_ = cap.interval_cap;
  all_.Start();
  groups_.Start();
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
    groups_.Add(CellKey(step, place_of_key_[keys_[i]]), drawn);
  }
}

// Adds the states of the shown time.
void TimelineVisitor::AddStates(const format::Block& block) {
  const uint64_t begin_ns = axis_.BeginOf(0), end_ns = axis_.EndOf(axis_.steps - 1);
  const auto is_shown = [&](uint64_t time_ns) {
    return start_ns_ + time_ns >= begin_ns && start_ns_ + time_ns < end_ns;
  };
  for (const format::Interval& interval : block.intervals) {
    const uint64_t time_ns = interval.index * interval_ns_;
    if (interval.stream != stream_ || !is_shown(time_ns)) continue;
    StepState& state = states_[StepOf(time_ns)];
    state.kept += interval.kept;
    state.allowed += cap_;
    state.is_estimated |= IsUncounted(interval);
    state.bytes += IsUncounted(interval) ? static_cast<uint64_t>(SampledBytes(block, interval)) : interval.bytes;
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

Timeline TimelineOf(const TimelineVisitor& scan, const CoveredTime& covered, const std::vector<std::string>& groups,
                    bool counts_events) {
  Timeline timeline{
      .axis = scan.axis(), .counts_events = counts_events, .all = {}, .groups = {}, .states = scan.states()};
  timeline.all.name = counts_events ? "all, events/s" : "all, bytes/s";
  for (const std::string& group : groups) timeline.groups.push_back({group, {}});
  for (size_t step = 0; step < scan.axis().steps; ++step) {
    const uint64_t covered_ns = covered.Within(scan.axis().BeginOf(step), scan.axis().EndOf(step));
    timeline.all.rates.push_back(PerSecond(scan.EstimatesAt(step).bytes, covered_ns));
    for (size_t group = 0; group < groups.size(); ++group) {
      timeline.groups[group].rates.push_back(PerSecond(scan.EstimatesAt(step, group).bytes, covered_ns));
    }
  }
  return timeline;
}

ExitCode ReadTimeline(const std::optional<Grouping>& by, size_t most_groups, size_t most_steps, RecordingScan* scan,
                      Timeline* into) {
  RecordingScan first = *scan;
  NamePool names(first.Naming());
  std::optional<CallTree> stacks;
  std::optional<TimeSpan> spanned;
  const ExitCode read = first.Run(&names, &stacks, [&] { return &spanned.emplace(scan->stream(), by); });
  CallTree& tree = *stacks;
  TimeSpan& span = *spanned;
  if (read == ExitCode::kUnreadable) return read;
  std::vector<GroupTable::Key> keys;
  std::vector<std::string> groups;
  if (by) {
    for (const GroupTable::Row* row : Ranked(*span.groups(), {.sort = "bytes", .limit = most_groups}, tree)) {
      if (span.groups()->own().Of(row->key).bytes.value == 0) break;  // a method that only calls others
      keys.push_back(row->key);
      groups.push_back(by->NameOf(row->key, tree));
    }
  }
  const CoveredTime covered(first.asked_times());
  TimeAxis axis = span.AxisOf(most_steps);
  axis.JoinShortEnds(covered);
  TimelineVisitor steps(axis, scan->stream(), by, std::move(keys));
  scan->SuppressMessages();  // the first pass has reported damage
  if (scan->Run(&tree, &steps) == ExitCode::kUnreadable) return ExitCode::kUnreadable;
  *into = TimelineOf(steps, covered, groups, scan->of_exceptions());
  return read;
}

}  // namespace heaprec::tools
