// `heaprec native --categories` as a report: what a JVM had in memory beside its heap, over time.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/memory_categories.h"
#include "tools/query/live/site_timeline.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct MemoryAnswer {
  std::vector<MemoryLook> snapshots;   // all of a recording
  std::vector<MemoryLook> shown;       // of these, in text
  std::vector<MemoryLook> with_sites;  // of these, those at which `sites` are
  SiteTimeline sites;
};

// So many (0: all) of them, the first and the last among them.
std::vector<MemoryLook> ChosenLooks(const std::vector<MemoryLook>& looks, size_t most);

// Adds the categories, the snapshots and the sites of a recording to its group.
void AddMemory(const MemoryAnswer& answer, render::Group* group);

}  // namespace heaprec::tools
