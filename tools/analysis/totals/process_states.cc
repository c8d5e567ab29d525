#include "tools/analysis/totals/process_states.h"

#include <algorithm>
#include <utility>

#include "tools/text/text.h"

namespace heaprec::tools {

void CpuTimeline::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (state.kind != format::ProcessStateKind::kCpu) continue;
    // A late or repeated state from another lane: only the order in time matters.
    if (!looks_.empty() && (state.time_ns <= looks_.back().time_ns || state.used < looks_.back().process_ns)) continue;
    looks_.push_back({state.time_ns, state.used, state.committed});
  }
}

// Interpolates between the neighbouring readings, or extrapolates from the first and the last.
CpuSeconds CpuTimeline::At(uint64_t time_ns) const {
  const auto after = std::ranges::upper_bound(looks_, time_ns, {}, &Look::time_ns);
  const bool is_outside = after == looks_.begin() || after == looks_.end();
  const Look& first = is_outside ? looks_.front() : *(after - 1);
  const Look& last = is_outside ? looks_.back() : *after;
  const Look& base = after == looks_.end() ? last : first;
  const double time = static_cast<double>(time_ns) - static_cast<double>(base.time_ns);
  const double part = time / static_cast<double>(last.time_ns - first.time_ns);
  const auto on_line = [part](uint64_t at_base, uint64_t at_first, uint64_t at_last) {
    return (static_cast<double>(at_base) + part * (static_cast<double>(at_last) - static_cast<double>(at_first))) *
           1e-9;
  };
  return {on_line(base.process_ns, first.process_ns, last.process_ns),
          on_line(base.collector_ns, first.collector_ns, last.collector_ns)};
}

std::optional<CpuSeconds> CpuTimeline::Between(uint64_t from_ns, uint64_t to_ns) const {
  if (looks_.size() < 2 || to_ns <= from_ns) return std::nullopt;
  const CpuSeconds from = At(from_ns), to = At(to_ns);
  if (!(to.process > from.process)) return std::nullopt;
  return CpuSeconds{to.process - from.process, std::max(to.collector - from.collector, 0.0)};
}

GcSummary::GcSummary(const format::FileHeader& header) : is_concurrent_(format::IsConcurrent(header.gc_name)) {}

namespace {

void Raise(uint64_t value, uint64_t time_ns, uint64_t* most, uint64_t* most_ns) {
  if (value > *most) *most = value, *most_ns = time_ns;
}

}  // namespace

// A count of 0: the JVM's count is unknown.
bool GcSummary::HasReclaimed(const format::ProcessState& ended) {
  const uint64_t before = std::exchange(collections_, ended.collections);
  return !is_concurrent_ && (ended.collections == 0 || ended.collections != before);
}

void GcSummary::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (!format::IsOfHeap(state.kind)) continue;
    ++states_;
    most_used = std::max(most_used, state.used);
    most_committed = std::max(most_committed, state.committed);
    Raise(state.rss, state.time_ns, &most_rss, &most_rss_ns);
    most_threads = std::max(most_threads, state.threads);
    if (state.kind == format::ProcessStateKind::kSnapshot) {
      if (collections_ == 0) collections_ = state.collections;  // the file begins later than the JVM
      continue;
    }
    if (state.kind == format::ProcessStateKind::kGcBegin) {
      // The beginning may be processed after its own end, because it is in another lane.
      unfinished = state.time_ns >= ended_ns_;
      begun_used_ = state.used;
      continue;
    }
    unfinished = false;
    ended_ns_ = state.time_ns;
    pauses += state.pauses;
    paused_ns += state.paused_ns;
    if (state.kind == format::ProcessStateKind::kGcCounted) {
      counted_only = true;
      continue;
    }
    if (!state.cause.empty()) ++causes[state.cause];
    longest_pause_ns = std::max(longest_pause_ns, state.paused_ns);
    // The JVM counts G1's cleanup as a collection.
    const bool is_unchanged = state.used == std::exchange(begun_used_, 0);
    if (!HasReclaimed(state) || is_unchanged) continue;
    if (first_after == 0) first_after = state.used;
    last_after = state.used;
    Raise(state.used, state.time_ns, &most_after, &most_after_ns);
  }
}

void MemoryTimeline::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (state.kind == format::ProcessStateKind::kSnapshot && state.rss > 0) {
      MemorySnapshot& snapshot = of_heap_[state.time_ns];
      snapshot.time_ns = state.time_ns;
      snapshot.rss = state.rss;
    }
    if (state.kind != format::ProcessStateKind::kMemory) continue;
    MemorySnapshot& snapshot = snapshots_[state.time_ns];
    snapshot.time_ns = state.time_ns;
    if (!state.cause.empty()) {
      snapshot.categories[ToUtf8(state.cause)] = {state.used, state.committed};
      continue;
    }
    snapshot.rss = state.rss;
    snapshot.pss = state.used;
    snapshot.not_shared = state.committed;
  }
}

std::vector<MemorySnapshot> MemoryTimeline::Snapshots() const {
  std::vector<MemorySnapshot> snapshots;
  for (const auto& [time_ns, snapshot] : snapshots_.empty() ? of_heap_ : snapshots_) snapshots.push_back(snapshot);
  return snapshots;
}

}  // namespace heaprec::tools
