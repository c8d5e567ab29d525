// `heaprec native --categories` as a report: native memory of a JVM over time.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/totals/process_states.h"
#include "tools/query/live/native_query.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct MemoryAnswer {
  std::vector<MemorySnapshot> snapshots;   // all of a recording
  std::vector<MemorySnapshot> shown;       // the snapshots in text
  std::vector<MemorySnapshot> with_sites;  // the snapshots at the times of `sites`
  SiteTimeline sites;
};

// Picks at most `most` snapshots, evenly, with the first and the last. 0: all.
std::vector<MemorySnapshot> ChooseSnapshots(const std::vector<MemorySnapshot>& snapshots, size_t most);

// Adds the categories, the snapshots and the sites of a recording to its group.
void AddMemory(const MemoryAnswer& answer, render::Group* group);

}  // namespace heaprec::tools
