#include "tools/analysis/memory_categories.h"

#include "tools/text/text.h"

namespace heaprec::tools {

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
