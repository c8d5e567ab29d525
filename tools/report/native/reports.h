// `heaprec native` as a report: for a recording, for a table of exact counts, and by the JVM's categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/totals/process_states.h"
#include "tools/query/live/native_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `heaprec native` for a recording as a report: sampled blocks and mappings by call site.
struct NativeAnswer {
  const RecordingScan& scan;
  const NativeVisitor& native;
  const CallTree& tree;
  bool by_live = true;      // order by live bytes, otherwise by allocated bytes
  size_t limit = 0;         // rows; 0: all
  size_t callers = 0;       // maximum callers below a stack, in text
  uint64_t min_age_ns = 0;  // minimum age of live blocks
};

// The result of the separate scan of mappings.
struct MappingAnswer {
  const RecordingScan& scan;
  const MappingVisitor& mappings;
  const CallTree& tree;
  size_t limit = 0, callers = 0;
};

// The meaning of sums of native bytes.
inline constexpr char kRequested[] = "# bytes are requested, not resident: memory that was never touched counts";

render::Report NativeReport(const NativeAnswer& answer);
// Adds the mappings as the member "mmap" of that report.
void AddMappings(const MappingAnswer& answer, render::Report* report);

// `heaprec native` for a table of exact counts as a report.
struct TableAnswer {
  const NativeTableFile& table;
  const std::vector<TableRow>& rows;
  std::string by;          // name of a row's kind
  bool by_live = true;     // order by live bytes, otherwise by allocated bytes
  bool compared = false;   // with an older table; ordered by growth
  size_t limit = 0;        // rows; 0: all
  size_t callers = 0;      // maximum callers below a site, in text
  uint64_t uncounted = 0;  // calls not counted for lack of memory, including the older table
};

render::Report NativeTableReport(const TableAnswer& answer);

// `heaprec native --categories` as a report: native memory of a JVM over time.
struct MemoryAnswer {
  std::vector<MemorySnapshot> snapshots;   // all snapshots of a recording
  std::vector<MemorySnapshot> shown;       // the snapshots in text
  std::vector<MemorySnapshot> with_sites;  // the snapshots at the times of `sites`
  SiteTimeline sites;
};

// Picks at most `most` snapshots, evenly, including the first and the last. 0: all.
std::vector<MemorySnapshot> ChooseSnapshots(const std::vector<MemorySnapshot>& snapshots, size_t most);

// Adds the categories, the snapshots and the sites of a recording to its group.
void AddMemory(const MemoryAnswer& answer, render::Group* group);

}  // namespace heaprec::tools
