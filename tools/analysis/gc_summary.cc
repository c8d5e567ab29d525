#include "tools/analysis/gc_summary.h"

#include <algorithm>

namespace heaprec::tools {

void GcSummary::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (!format::IsOfHeap(state.kind)) continue;
    ++states_;
    most_used = std::max(most_used, state.used);
    most_committed = std::max(most_committed, state.committed);
    most_rss = std::max(most_rss, state.rss);
    most_threads = std::max(most_threads, state.threads);
    if (state.kind == format::ProcessStateKind::kSnapshot) continue;
    if (state.kind == format::ProcessStateKind::kGcBegin) {
      // It may be taken in behind its own end, from another lane.
      unfinished = state.time_ns >= ended_ns_;
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
    if (first_after == 0) first_after = state.used;
    last_after = state.used;
    most_after = std::max(most_after, state.used);
  }
}

}  // namespace heaprec::tools
