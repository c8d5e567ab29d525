// What to do after a process has ended: commands that show more, and settings with numbers.
//
// Failure:  none.
#pragma once

#include <string>
#include <vector>

#include "tools/query/live/live_query.h"
#include "tools/query/why/owners.h"
#include "tools/query/why/verdict.h"

namespace heaprec::tools {

// A command or a setting, and what it is for.
struct NextStep {
  std::string text, reason;
};
std::vector<NextStep> NextStepsOf(const EndFacts& facts, const EndVerdict& verdict,
                                  const std::vector<GrownOwner>& grown, const std::vector<LiveSite>& sites,
                                  const std::string& file);

}  // namespace heaprec::tools
