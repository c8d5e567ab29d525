#include "tools/rewrite/time_slice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>

#include "format/ring/content_keys.h"
#include "tools/analysis/live/collection_clock.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/rewrite/recording_editor.h"

namespace heaprec::tools {
namespace {

using format::LossReason;
using format::Stream;
using format::StreamCounters;

uint64_t CommonInterval(const format::FileHeader& header) {
  uint64_t common = header.census != format::CensusMode::kOff ? format::kCensusSlotNs : 1;
  for (const Stream stream : format::kAllStreams) {
    common = std::lcm(common, std::max<uint64_t>(header.CapOf(stream).interval_ns, 1));
  }
  return common;
}

// Returns the beginning of the file in its recording; 0 unless the oldest data is missing.
uint64_t FileBegin(const format::FileHeader& header) {
  uint64_t begin_ns = UINT64_MAX;
  for (const Stream stream : format::kAllStreams) {
    const uint64_t interval_ns = header.CapOf(stream).interval_ns;
    if (interval_ns > 0) begin_ns = std::min(begin_ns, BeginNs(header, stream));
  }
  return begin_ns == UINT64_MAX ? 0 : begin_ns;
}

// Samples of an outage could not be written, only counters (docs/format/recording.md#intervals). For a long outage a
// row may cover all intervals since the previous row.
bool IsLost(const format::Interval& interval) {
  return interval.kept == 0 && interval.tau == 0 && interval.buffered > 0;
}

void AddCounts(const format::Interval& interval, StreamCounters* to) {
  to->candidates += interval.candidates;
  to->candidate_bytes += interval.bytes;
}

// Returns the range of the intervals whose points are in the block's rows; nullopt: it has no rows.
std::optional<std::pair<uint64_t, uint64_t>> RowSpan(const format::FileHeader& header, const format::Block& block) {
  std::optional<std::pair<uint64_t, uint64_t>> span;
  if (block.rows.empty() && block.outside.empty()) return span;
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != Stream::kAllocations || IsLost(interval) ||
        (interval.buffered == 0 && block.outside.empty()))
      continue;
    const uint64_t begin_ns = interval.index * header.interval_ns, end_ns = begin_ns + header.interval_ns;
    span =
        span ? std::pair(std::min(span->first, begin_ns), std::max(span->second, end_ns)) : std::pair(begin_ns, end_ns);
  }
  return span;
}

// Equal for the same cut of the same recording.
format::RecordingId IdOf(const format::RecordingId& id, uint64_t from_ns, uint64_t to_ns) {
  std::string text(id.begin(), id.end());
  text += std::to_string(from_ns) + "-" + std::to_string(to_ns);
  const std::array<uint64_t, 2> halves{format::ClassKey(text), format::ClassKey(text + "'")};
  format::RecordingId result{};
  std::memcpy(result.data(), halves.data(), result.size());
  return result;
}

}  // namespace

std::pair<uint64_t, uint64_t> ExtendToRows(const Recording& recording, uint64_t from_ns, uint64_t to_ns) {
  std::pair<uint64_t, uint64_t> extended{from_ns, to_ns};
  // What cannot be read again is not extended.
  [[maybe_unused]] const auto read = WalkAgain(recording, [&](const format::Block& block) {
    const auto span = RowSpan(recording.header(), block);
    if (!span) return;
    if (span->first < from_ns && from_ns < span->second) extended.first = span->first;
    if (span->first < to_ns && to_ns < span->second) extended.second = span->second;
  });
  return extended;
}

TimeSlice::TimeSlice(const format::FileHeader& header, uint64_t from_ns, uint64_t to_ns)
    : header_(header), from_ns_(from_ns), to_ns_(to_ns), begin_ns_(FileBegin(header)), start_(header.start.counters) {
  for (const Stream stream : format::kAllStreams) states_[stream].latest = start_[stream];
  const uint64_t common = CommonInterval(header);
  shift_ns_ = std::max(from_ns, begin_ns_) / common * common;
  header_.start = {};
  header_.start.begin_ns = std::max(from_ns, begin_ns_) - shift_ns_;
  header_.recording_id = IdOf(header.recording_id, from_ns, to_ns);
  header_.start_epoch_ns += shift_ns_;
  header_.start_monotonic_ns += shift_ns_;
  header_.ring_path.clear();
}

std::vector<format::Block> TimeSlice::Of(const format::Block& block) {
  last_ns_ = std::max(last_ns_, block.end_ns);
  format::Block cut;
  cut.chunk = block.chunk;
  cut.offset = block.offset;
  cut.dictionaries = block.dictionaries;
  cut.end_ns = Since(std::min(block.end_ns, to_ns_));
  for (format::Window window : block.windows) {
    window.start_ns = Since(window.start_ns);
    cut.windows.push_back(window);
  }
  const auto add_within = [this](const auto& all, auto* into) {
    for (auto one : all) {
      if (!IsWithin(one.time_ns)) continue;
      one.time_ns = Since(one.time_ns);
      into->push_back(std::move(one));
    }
  };
  add_within(block.states, &cut.states);
  add_within(block.samples, &cut.samples);
  cut.row_interval = block.row_interval;
  const auto rows = RowSpan(header_, block);
  if (rows && rows->first >= from_ns_ && rows->second <= to_ns_) {
    cut.rows = block.rows;
    cut.outside = block.outside;
  }
  const format::PerStream<StreamCounters> before = counters_;
  AddIntervals(block, &cut);
  AddCensus(block, &cut);
  std::vector<format::Block> parts;
  if (header_.tracks()) {
    if (auto opening = AddLifecycleEvents(block, &cut)) {
      opening->counters = before;
      parts.push_back(std::move(*opening));
    }
  }
  AddCounters(block, &cut);
  // Keeps blocks with only windows, too, because a later block's samples may refer to them.
  if (HasRows(cut) || !cut.windows.empty()) parts.push_back(std::move(cut));
  return parts;
}

void TimeSlice::LostRows::Add(const format::Interval& row) {
  buffered += row.buffered;
  counted += static_cast<double>(format::CountsEvents(row.stream) ? row.candidates : row.bytes);
}

void TimeSlice::AddIntervals(const format::Block& block, format::Block* cut) {
  for (State& state : states_.of) state.lost_rows = state.lost_rows_in = {}, state.dropped = 0;
  for (format::Interval interval : block.intervals) {
    State& state = states_[interval.stream];
    const bool is_lost = IsLost(interval);
    AddCounts(interval, &state.rows);
    if (is_lost) state.lost_rows.Add(interval);
    if (!is_lost) state.dropped += interval.buffered - std::min(interval.buffered, interval.kept);
    const uint64_t length = std::max<uint64_t>(header_.CapOf(interval.stream).interval_ns, 1);
    const uint64_t before = state.last_row ? *state.last_row + 1 : interval.index;
    const uint64_t first = is_lost ? std::min(before, interval.index) : interval.index;
    state.last_row = interval.index;
    const uint64_t begin = first * length, end = (interval.index + 1) * length;
    if (end <= from_ns_ || begin >= to_ns_) continue;
    const bool is_cut = begin < from_ns_ || end > to_ns_;
    if (is_cut && !AddBorder(*cut, &interval)) continue;
    if (is_lost) state.lost_rows_in.Add(interval);
    AddCounts(interval, &state.rows_in);
    StreamCounters& counters = counters_[interval.stream];
    counters.written += interval.kept;
    if (!is_lost) counters.second_stage += interval.buffered - std::min(interval.buffered, interval.kept);
    interval.index -= shift_ns_ / length;
    cut->intervals.push_back(interval);
  }
}

// If a border cuts an interval, it is unknown what was counted on each side. So the interval counts nothing, and its
// samples are not calibrated, as in a salvaged interval. Returns false if it has no samples.
bool TimeSlice::AddBorder(const format::Block& cut, format::Interval* interval) const {
  const uint64_t length = std::max<uint64_t>(header_.CapOf(interval->stream).interval_ns, 1);
  uint64_t kept = 0;
  double weight = 0;
  for (const format::Sample& sample : cut.samples) {
    if (sample.stream() != interval->stream || (sample.time_ns + shift_ns_) / length != interval->index) continue;
    ++kept;
    weight += sample.weight;
  }
  if (kept == 0) return false;
  interval->candidates = interval->bytes = 0;
  // The number of thrown exceptions is a total of the whole recording; the unknown part is estimated.
  if (interval->stream == Stream::kExceptions) interval->candidates = static_cast<uint64_t>(std::llround(weight));
  interval->buffered = interval->kept = kept;
  return true;
}

// States are almost in order of time, and counts never decrease.
void TimeSlice::NoteCollections(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (!format::IsOfHeap(state.kind)) continue;
    if (collections_.empty()) collections_.emplace_back(0, CountedBefore(state, format::IsConcurrent(header_.gc_name)));
    if (state.time_ns >= from_ns_) continue;
    const auto [time_ns, count] = collections_.back();
    if (state.time_ns >= time_ns && state.collections > count)
      collections_.emplace_back(state.time_ns, state.collections);
  }
}

uint64_t TimeSlice::CollectionsBy(uint64_t time_ns) const {
  const auto after = std::ranges::upper_bound(collections_, time_ns, {}, &std::pair<uint64_t, uint64_t>::first);
  return after == collections_.begin() ? 0 : std::prev(after)->second;
}

// Copies the names of live samples, because a chunk without a checkpoint may follow: a salvaged one, one that a copy
// began because of its size, or one whose first block is damaged. Samples that were live before it are still live.
void TimeSlice::NoteNames(const format::Block& block) {
  if (chunk_ != block.chunk) {
    chunk_ = block.chunk;
    copied_.Clear();
    if (!block.live_checkpoint.empty()) alive_.clear();
    if (alive_.empty()) names_ = {};
  }
  copied_.Enter(*block.dictionaries, &names_);
  for (format::CheckpointSample checkpoint_sample : block.live_checkpoint) {
    checkpoint_sample.sample = copied_.Named(checkpoint_sample.sample);
    alive_[checkpoint_sample.sample.id] = checkpoint_sample;
  }
}

void TimeSlice::NoteLifecycleEvent(const format::LifecycleEvent& lifecycle) {
  Apply(lifecycle);
  if (lifecycle.kind != format::LifecycleKind::kEvicted) return;
  for (auto& [id, checkpoint_sample] : alive_) {
    if (checkpoint_sample.sample.stream() == lifecycle.stream && checkpoint_sample.sample.time_ns < lifecycle.time_ns)
      checkpoint_sample.threshold = std::max(checkpoint_sample.threshold, lifecycle.threshold);
  }
}

// Returns whether the sample is live.
bool TimeSlice::Apply(const format::LifecycleEvent& lifecycle) {
  const auto found = alive_.find(lifecycle.sample);
  if (found == alive_.end()) return false;
  format::CheckpointSample& checkpoint_sample = found->second;
  if (lifecycle.kind == format::LifecycleKind::kShrunk) {
    checkpoint_sample.gone = checkpoint_sample.sample.size - std::min(checkpoint_sample.sample.size, lifecycle.left);
  } else {
    alive_.erase(found);
  }
  return true;
}

void TimeSlice::Track(const format::Sample& sample) {
  if (header_.MaxTracked(sample.stream()) > 0) alive_[sample.id] = {sample, 0, kNoStoredCount, 0};
}

// A sample that a border excludes has no lifecycle event in the cut either.
std::optional<format::Block> TimeSlice::AddLifecycleEvents(const format::Block& block, format::Block* cut) {
  if (!has_begun_) {
    NoteNames(block);
    NoteCollections(block);
    for (const format::Sample& sample : block.samples) {
      if (sample.time_ns < from_ns_) Track(copied_.Named(sample));
    }
  }
  const auto is_within = [this](const format::LifecycleEvent& lifecycle) { return IsWithin(lifecycle.time_ns); };
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (!has_begun_ && lifecycle.time_ns < from_ns_) NoteLifecycleEvent(lifecycle);
  }
  // The opening must come before everything else of its chunk.
  const bool begins = HasRows(*cut) || std::ranges::any_of(block.lifecycle_events, is_within);
  if (!has_begun_ && !begins) return std::nullopt;
  std::optional<format::Block> opening;
  if (has_begun_) {
    for (format::CheckpointSample checkpoint_sample : block.live_checkpoint) {
      if (alive_.count(checkpoint_sample.sample.id) == 0) continue;
      checkpoint_sample.sample.time_ns = Since(checkpoint_sample.sample.time_ns);
      cut->live_checkpoint.push_back(checkpoint_sample);
    }
  } else {
    opening = Opening(block);
  }
  has_begun_ = true;
  for (const format::Sample& sample : block.samples) {
    if (IsWithin(sample.time_ns)) Track(sample);
  }
  for (format::LifecycleEvent lifecycle : block.lifecycle_events) {
    if (!is_within(lifecycle) || !Apply(lifecycle)) continue;
    lifecycle.time_ns = Since(lifecycle.time_ns);
    counters_[lifecycle.stream].untracked += lifecycle.kind == format::LifecycleKind::kUntracked ? 1 : 0;
    cut->lifecycle_events.push_back(lifecycle);
  }
  return opening;
}

// Returns a block with the samples that are live when the span begins; nullopt: none. `block`: the first block of the
// cut, in the same chunk.
std::optional<format::Block> TimeSlice::Opening(const format::Block& block) {
  format::Block opening;
  for (const auto& [id, alive] : alive_) {
    format::CheckpointSample checkpoint_sample = alive;
    // Samples have no count of collections, and the cut lacks the earlier states, which have it.
    if (alive.collections == kNoStoredCount) checkpoint_sample.collections = CollectionsBy(alive.sample.time_ns);
    checkpoint_sample.sample.time_ns = Since(checkpoint_sample.sample.time_ns);
    opening.live_checkpoint.push_back(checkpoint_sample);
  }
  if (opening.live_checkpoint.empty()) return std::nullopt;
  dictionaries_ = DictionariesOf(names_);
  opening.dictionaries = &dictionaries_;
  opening.chunk = block.chunk;
  opening.offset = block.offset;
  opening.end_ns = Since(std::max(from_ns_, begin_ns_));
  return opening;
}

// Losses and thinned points are known per block: the cut has those of the blocks that end within it. But data that
// could not be written is lost with its intervals, of which one block may have many: of these the cut has its own.
void TimeSlice::AddLosses(const StreamCounters& now, State* state, StreamCounters* counters) const {
  constexpr auto kFailed = static_cast<size_t>(LossReason::kWriteFailed);
  StreamCounters since = now.Since(state->latest);
  const LostRows &all = state->lost_rows, &in = state->lost_rows_in;
  if (all.buffered > 0) {
    const uint64_t dropped = since.second_stage - std::min(since.second_stage, state->dropped);
    const uint64_t failed = since.lost[kFailed],
                   of_rows = std::min(failed, all.buffered - std::min(all.buffered, dropped));
    const double part = failed > 0 ? static_cast<double>(of_rows) / static_cast<double>(failed) : 1;
    const double weight = part * since.lost_weight[kFailed];
    const double points = static_cast<double>(in.buffered) / static_cast<double>(all.buffered);
    const auto lost = static_cast<uint64_t>(std::llround(points * static_cast<double>(of_rows)));
    counters->lost[kFailed] += lost;
    counters->lost_weight[kFailed] += weight * (all.counted > 0 ? in.counted / all.counted : points);
    counters->second_stage += in.buffered - lost;
    since.lost[kFailed] -= of_rows, since.lost_weight[kFailed] -= weight;
  }
  if (!is_within_) return;
  counters->thinned += since.thinned;
  for (size_t reason = 0; reason < format::kLosses; ++reason) {
    counters->lost[reason] += since.lost[reason];
    counters->lost_weight[reason] += since.lost_weight[reason];
  }
  state->misses_rows |= since.lost[kFailed] > 0;
}

void TimeSlice::AddCounters(const format::Block& block, format::Block* cut) {
  is_within_ = block.end_ns > from_ns_ && block.end_ns <= to_ns_;
  for (const Stream stream : format::kAllStreams) {
    State& state = states_[stream];
    StreamCounters& counters = counters_[stream];
    AddLosses(block.counters[stream], &state, &counters);
    state.latest = block.counters[stream];
    const StreamCounters weight_excess = state.latest.Since(start_[stream]).Since(state.rows);
    if (block.end_ns <= from_ns_) state.excess_at_begin = weight_excess;
    // Samples that were lost together with their rows are only in the counters.
    if (is_within_ && state.misses_rows) state.missed = weight_excess.Since(state.excess_at_begin);
    for (const auto counter : {&StreamCounters::candidates, &StreamCounters::candidate_bytes}) {
      counters.*counter = std::max(counters.*counter, state.rows_in.*counter + state.missed.*counter);
    }
    counters.committed = counters.SettledSamples();
    counters.points = counters.SettledPoints();
  }
  cut->counters = counters_;
}

// Adds the seconds within the span. Candidates, like losses, are counted per block; if all are walked, they equal what
// was found.
void TimeSlice::AddCensus(const format::Block& block, format::Block* cut) {
  const auto add = [this](const std::vector<format::CensusRow>& rows, std::vector<format::CensusRow>* into) {
    for (format::CensusRow row : rows) {
      if (row.time_ns < from_ns_ || row.time_ns + format::kCensusSlotNs > to_ns_) continue;
      row.time_ns = Since(row.time_ns);
      into->push_back(row);
    }
  };
  add(block.census, &cut->census);
  add(block.census_totals, &cut->census_totals);
  const bool has_counters = !(block.census_counters == format::CensusCounters{});  // blocks from a ring have none
  if (has_counters && block.end_ns <= from_ns_) census_before_ = block.census_counters;
  if (has_counters && block.end_ns > from_ns_ && block.end_ns <= to_ns_) {
    const uint64_t walks = census_.walks, walked = census_.walked_bytes - census_.lost_bytes;
    for (const auto counter : format::kCensusCounterFields) {
      census_.*counter =
          block.census_counters.*counter - std::min(block.census_counters.*counter, census_before_.*counter);
    }
    census_.walks = walks;
    census_.walked_bytes = walked + census_.lost_bytes;
  }
  for (const format::CensusRow& row : cut->census_totals) {
    census_.walks += row.walks;
    census_.walked_bytes += row.bytes.counted;
  }
  if (header_.census == format::CensusMode::kAll) {
    census_.tlabs = census_.walks;
    census_.tlab_bytes = census_.walked_bytes + census_.aborted_bytes;
    census_.outside = census_.outside_bytes = 0;
  } else {  // candidates are not counted per second
    census_.tlabs = census_.tlab_bytes = census_.outside = census_.outside_bytes = 0;
  }
  cut->census_counters = census_;
}

format::EndMarker TimeSlice::EndingOf(const format::EndMarker& ending) const {
  const bool may_grow = ending.reason == format::kEndDump && to_ns_ > last_ns_;
  if (may_grow || ending.time_ns < to_ns_) return {Since(std::min(ending.time_ns, to_ns_)), ending.reason};
  return {Since(to_ns_), format::kEndTrim};
}

}  // namespace heaprec::tools
