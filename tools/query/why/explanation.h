// All that is known of a process' end: what `heaprec why` and the report page show.
//
// Failure:  none: what is missing stays empty.
#pragma once

#include <string>
#include <vector>

#include "tools/input/recording.h"
#include "tools/query/live/live_query.h"
#include "tools/query/why/changes.h"
#include "tools/query/why/end_facts.h"
#include "tools/query/why/next_steps.h"
#include "tools/query/why/owners.h"
#include "tools/query/why/verdict.h"

namespace heaprec::tools {

struct Explanation {
  std::string file;
  bool is_alone = false;  // the file contains no other recording, so that it can be read again
  EndFacts facts;
  EndVerdict verdict;
  std::vector<GrownOwner> grown;
  std::vector<LiveSite> sites;   // leaks first
  std::vector<LivePart> filled;  // what was live when the heap was full for the last time
  std::vector<NextStep> advice;
  Changes changes;  // empty: not looked for
};

// Reads the recording to its end, and its file again for the sites. `file`: as given, which "-" is, too. `cgroup`: as
// in ReadSurvivor.
Explanation ExplainEnd(Recording* recording, const std::string& file, bool is_alone, const std::string& cgroup);
// Reads the file again.
void AddChanges(Explanation* into);

}  // namespace heaprec::tools
