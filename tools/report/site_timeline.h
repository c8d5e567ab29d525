// The native memory of a recording's sites at chosen times: what was alive there.
//
// Failure:  none is shown of a recording that did not follow native memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/report/categories_report.h"

namespace heaprec::tools {

struct SiteCourse {
  std::vector<SiteLine> lines;
  std::vector<std::string> doubts;  // why they should not be believed, as `summary` says it
};

// `times`: ns since the start of the recording, ascending. The sum of all sites first, then `most` of them, those that
// hold most at the last time first. No lines: there is no native memory in it.
SiteCourse SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most);

}  // namespace heaprec::tools
