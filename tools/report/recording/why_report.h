// `heaprec why` as a report: how a process ended, its account of memory, what grew, and what to do; or what the ends of
// several have in common.
#pragma once

#include <string>
#include <vector>

#include "tools/query/why/explanation.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `is_brief`: shows only the first evidence, sites, changes and advice.
render::Group WhyReport(const Explanation& answer, bool is_brief);

struct CrashLoopAnswer {
  const std::vector<ProcessEnd>& ends;  // in order of time
  const CrashLoop& common;
  struct Unread {
    std::string file, reason;
  };
  const std::vector<Unread>& unread;
  const std::vector<NextStep>& advice;
};

// The ends are a table that FitScreen can shorten.
render::Group CrashLoopReport(const CrashLoopAnswer& answer);

}  // namespace heaprec::tools
