// `heaprec native` as a report: of a recording, of a table of exact sums, and by the JVM's categories.
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

// `heaprec native` of a recording as a report: sampled blocks and mappings by call site.
struct NativeAnswer {
  const RecordingScan& scan;
  const NativeVisitor& native;
  const CallTree& tree;
  bool by_live = true;      // live bytes rank, else allocated bytes
  size_t limit = 0;         // rows; 0: all
  size_t callers = 0;       // below a stack, in text
  uint64_t min_age_ns = 0;  // of what counts as live
};

// A stream of its own, and so a scan of its own.
struct MappingAnswer {
  const RecordingScan& scan;
  const MappingVisitor& mappings;
  const CallTree& tree;
  size_t limit = 0, callers = 0;
};

// What bytes of native memory are, wherever they are added up.
inline constexpr char kRequested[] = "# bytes are requested, not resident: memory that was never touched counts";

render::Report NativeReport(const NativeAnswer& answer);
// The mappings, as the member "mmap" of that report.
void AddMappings(const MappingAnswer& answer, render::Report* report);

// `heaprec native` of a table of exact sums as a report.
struct TableAnswer {
  const NativeTableFile& table;
  const std::vector<TableRow>& rows;
  std::string by;          // what a row is called
  bool by_live = true;     // the largest by what lives, not by what was allocated
  bool compared = false;   // with an older table; then by growth
  size_t limit = 0;        // rows; 0: all
  size_t callers = 0;      // below a site, in text
  uint64_t uncounted = 0;  // calls, for lack of memory; in the older table, too
};

render::Report NativeTableReport(const TableAnswer& answer);

// `heaprec native --categories` as a report: native memory of a JVM over time.
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
