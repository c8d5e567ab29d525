// What `live` and `leaks` have in common: their options, and the way from recordings to what is alive in them.
//
// Threads:  one.
// Failure:  Run says on stderr what it could not do.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/query/live_query.h"
#include "tools/query/scan.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct LivingOptions {
  SurveyOptions survey;
  std::string at, by;
  bool json = false, csv = false;
};

// What is wrong with recordings that `live` cannot tell anything of; behind a file's name.
inline constexpr char kNoLive[] =
    ": objects were not tracked; record with the agent option live=on: heaprec record --set live=on -- java ...";

// What has been read: all that a report needs.
struct Living {
  NamePool names;
  std::optional<Survey> survey;
  std::optional<CallTree> tree;
  std::optional<LiveSurvey> live;
};

// `question` without its times and groups. `by`: what is grouped by, if the options do not say. kUsage, kUnreadable: no
// report can be made.
ExitCode Read(const LivingOptions& options, LiveQuestion question, const std::vector<By>& by, Living* into);

// On standard output. `read`: what Read returned.
ExitCode Say(const std::string& report, ExitCode read);

}  // namespace heaprec::tools
