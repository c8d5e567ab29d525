// The reports of commands that estimate: what was allocated, what is live, native memory, differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/totals/process_states.h"
#include "tools/query/allocations/census_query.h"
#include "tools/query/allocations/escape_result.h"
#include "tools/query/allocations/flame_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/allocations/timeline_query.h"
#include "tools/query/compare/budget_check.h"
#include "tools/query/compare/diff_query.h"
#include "tools/query/live/native_query.h"
#include "tools/query/live/path_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"
#include "tools/report/columns/live_columns.h"

namespace heaprec::tools {

// `heaprec top` as a report: one table per grouping.

// `what`: description of a row, "class or site".
render::Report TopReport(const RecordingScan& scan, const std::vector<Groups>& tables, const Ranking& ranking,
                         const CallTree& tree, const std::string& what);

// `heaprec tree` as a report: nodes with what was allocated below them.

// Limits for the children of a node that are shown.
struct TreeLimits {
  size_t children = 0;  // 0: all
  double min_share = 0.01;
};

// `tree`: without classes, with estimated boxes; boxes below `limits` may be folded.
render::Report TreeReport(const FlameScan& tree, const TreeLimits& limits);

// `heaprec histogram` as a report: sizes of objects by powers of two.

// `sizes`: samples grouped by size.
render::Report HistogramReport(const RecordingScan& scan, const Groups& sizes);

// `heaprec timeline` as a report.

// Returns how many steps fit into this width; 0: the usual width of terminals.
size_t StepsWithin(size_t columns);
render::Report TimelineReport(const RecordingScan& scan, const Timeline& timeline);

// `heaprec census` as a report.
struct CensusRanking {
  std::string sort = "bytes";  // bytes, objects, name
  size_t limit = 0;            // rows; 0: all
};

// `before`: an earlier recording, with which this one is compared; null: none.
render::Report CensusReport(const CensusScan& scan, const CensusScan* before, const CensusRanking& ranking);

// `heaprec escape` as a report: allocations of one call in each mode of the JVM's compiler.

// `modes`: in the order of EscapeModes(), each with an outcome of every method.
render::Report EscapeReport(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes);

// `heaprec live` and `leaks` as reports.

// `heaprec live` as reports: live objects, lifetimes, and dead objects.

render::Report LiveObjectsReport(const LiveAnswer& answer);
render::Report LifetimesReport(const LiveAnswer& answer);
// `newest`: the objects that died last; otherwise a random sample of all dead objects.
render::Report GarbageReport(const LiveAnswer& answer, bool newest);

// `heaprec leaks` as a report: the sites whose live bytes keep growing.
struct LeakRanking {
  double rate = 0.05;  // the false discovery rate
  size_t limit = 0;    // maximum rows; 0: all
  bool all = false;    // also show groups whose growth is not significant
};

// `paths`: says what holds the objects of each leak; null: not known.
render::Report LeaksReport(const LiveAnswer& answer, const LeakRanking& ranking,
                           const GroupPathVisitor* paths = nullptr);

// `heaprec paths` as a report: what holds live objects, of all recordings together.
struct PathLimits {
  size_t children = 0;      // of a place; 0: all
  double min_share = 0.01;  // of what is held
};

render::Report PathsReport(const RecordingScan& scan, const PathVisitor& paths, const PathLimits& limits);

// `heaprec native` as a report: for a recording, for a table of exact counts, and by the JVM's categories.

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

// `heaprec diff` and `check` as reports.

// The result of diff.
struct DiffSide {
  const ComparedRuns& runs;
  std::string window;  // ", 10s..20s"; usually empty
};

// The shown rows: those that changed, or all; at most `limit`.
struct DiffRows {
  bool all = false;
  bool given = false;  // otherwise the default for people
  size_t limit = 0;    // 0: all
};

// "+6.5 % (+3.1..+9.9): 68.0 MiB/s before, 72.4 MiB/s after"
render::Line TotalLine(const DiffResult& result, const RecordingScan& scan);
render::Report DiffReport(const DiffResult& result, const DiffSide& before, const DiffSide& after, DiffRows shown,
                          const CallTree& tree);
// The share of time and CPU time that collections took on each side.
std::vector<render::Line> GcLines(const DiffSide& before, const DiffSide& after);
// "same" for changes that may be noise.
const char* VerdictName(Verdict verdict);

// The result of a check.

render::Report CheckReport(const CheckAnswer& answer);

}  // namespace heaprec::tools
