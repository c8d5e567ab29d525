#include "tools/analysis/cpu_time.h"

#include <algorithm>

namespace heaprec::tools {

void CpuTimeline::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (state.kind != format::ProcessStateKind::kCpu) continue;
    // From another lane, late, or again: the order in time is what counts.
    if (!looks_.empty() && (state.time_ns <= looks_.back().time_ns || state.used < looks_.back().process_ns)) continue;
    looks_.push_back({state.time_ns, state.used, state.committed});
  }
}

// On the line through the two looks around it, or through the first and the last.
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

}  // namespace heaprec::tools
