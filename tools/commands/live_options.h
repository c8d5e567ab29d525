// What `live` and `leaks` have in common: their options, and the way from recordings to what is live in them.
//
// Threads:  one.
// Failure:  Read says on stderr what it could not do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct LiveCommandOptions {
  ScanOptions scan;
  std::string at, by;
  render::OutputOptions output;
};

// What has been read: all that a report needs.
struct LiveScan {
  NamePool names;
  std::optional<RecordingScan> scan;
  std::optional<CallTree> tree;
  std::optional<LiveVisitor> live;
};

// `question` without its times and groups. `by`: what is grouped by, if the options do not say. kUsage, kUnreadable: no
// report can be made.
ExitCode Read(const LiveCommandOptions& options, LiveQuery question, const std::vector<By>& by, LiveScan* into);

}  // namespace heaprec::tools
