// heaprec top --follow: the live view of a JVM, or of a recording that is still growing.
#pragma once

#include "tools/query/allocations/group_query.h"
#include "tools/query/summary/follow_query.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

struct FollowOptions {
  FollowQuestion question;  // its file: a recording, or the PID or name of a JVM
  Ranking ranking;
};

// Runs until the user quits, a signal comes, or the terminal is closed. Without a terminal prints a frame each second.
ExitCode FollowLive(const FollowOptions& options);

}  // namespace heaprec::tools
