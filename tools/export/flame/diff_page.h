// The flame graph of what differs between two sides, as a page.
#pragma once

#include <string>
#include <vector>

#include "tools/query/comparison.h"
#include "tools/query/scan.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct DiffPage {
  ScanOptions before, after;                       // each file is a run
  std::vector<Scale> scales_before, scales_after;  // of the runs
  Scale scale_before, scale_after;                 // of all runs of the side
  Question question;
  std::string output;
  bool force = false;
  std::string headline;
  // Why a side should not be believed (RecordingScan::Doubt); empty: it may be.
  std::string doubt_of_before, doubt_of_after;
};

// Reads both sides again, twice. Says on stderr what went wrong.
ExitCode WriteDiffPage(const DiffPage& page);

}  // namespace heaprec::tools
