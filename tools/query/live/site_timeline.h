// The native memory of a recording's sites at chosen times: what was live there.
//
// Failure:  no lines for a recording that did not track native memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// Live sampled bytes of a site, at each time.
struct SiteLine {
  std::string name;
  std::vector<Estimate> live;
};

struct SiteTimeline {
  std::vector<SiteLine> lines;
  std::vector<std::string> trust_reasons;  // why they should not be trusted
};

// `times`: ns since the start of the recording, ascending. The sum of all sites first, then `most` of them, those that
// hold most at the last time first. No lines: there is no native memory in it.
SiteTimeline SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most);

}  // namespace heaprec::tools
