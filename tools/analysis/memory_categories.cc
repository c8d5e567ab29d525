#include "tools/analysis/memory_categories.h"

#include "tools/text/utf8.h"

namespace heaprec::tools {

void MemoryCourse::Add(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (state.kind == format::ProcessStateKind::kSnapshot && state.rss > 0) {
      MemoryLook& look = of_heap_[state.time_ns];
      look.time_ns = state.time_ns;
      look.rss = state.rss;
    }
    if (state.kind != format::ProcessStateKind::kMemory) continue;
    MemoryLook& look = looks_[state.time_ns];
    look.time_ns = state.time_ns;
    if (!state.cause.empty()) {
      look.categories[ToUtf8(state.cause)] = {state.used, state.committed};
      continue;
    }
    look.rss = state.rss;
    look.pss = state.used;
    look.not_shared = state.committed;
  }
}

std::vector<MemoryLook> MemoryCourse::Looks() const {
  std::vector<MemoryLook> looks;
  for (const auto& [time_ns, look] : looks_.empty() ? of_heap_ : looks_) looks.push_back(look);
  return looks;
}

}  // namespace heaprec::tools
