// What diff came to.
#pragma once

#include <string>
#include <vector>

#include "tools/query/comparison.h"
#include "tools/query/scan.h"
#include "tools/render/report.h"
#include "tools/report/difference_format.h"

namespace heaprec::tools {

// One grouping's rows.
struct ComparedTable {
  Grouping by;
  std::vector<ComparedRow> rows;
  size_t changed = 0;
  RunComparison runs;  // without its rows
};

struct DiffResult {
  Difference total;  // in bytes or objects; of shares as they are
  Scale scale;
  std::string unit_reason;  // why `scale` is in this unit
  MachineSpeed speed;
  Scale total_scale;  // of shares the total is the rate: per second
  Question question;
  bool reversed = false;
  std::vector<ComparedTable> tables;
};

// How values in this unit are written.
ValueStyle StyleOf(const Scale& scale, const RecordingScan& scan);

struct DiffSide {
  const ComparedRuns& runs;
  std::string window;  // ", 10s..20s"; mostly empty
};

// Which rows are shown: those that changed, or all; the first so many.
struct DiffRows {
  bool all = false;
  bool given = false;  // else as many as people read
  size_t limit = 0;    // 0: all
};

render::Report DiffReport(const DiffResult& result, const DiffSide& before, const DiffSide& after, DiffRows shown,
                          const CallTree& tree);

}  // namespace heaprec::tools
