#include "tools/analysis/gc_summary.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {

GcSummary::GcSummary(const format::FileHeader& header) : is_concurrent_(format::IsConcurrent(header.gc_name)) {}

// 0: the JVM's count is not known.
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
    most_rss = std::max(most_rss, state.rss);
    most_threads = std::max(most_threads, state.threads);
    if (state.kind == format::ProcessStateKind::kSnapshot) {
      if (collections_ == 0) collections_ = state.collections;  // of a file that does not begin with the JVM
      continue;
    }
    if (state.kind == format::ProcessStateKind::kGcBegin) {
      // It may be taken in behind its own end, from another lane.
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
    most_after = std::max(most_after, state.used);
  }
}

}  // namespace heaprec::tools
