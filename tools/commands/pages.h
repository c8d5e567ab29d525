// The page of recordings, which report shows whole, and other commands from their side.
//
// Failure:  what went wrong is said on stderr.
#pragma once

#include "tools/report/page/recording_page.h"

namespace heaprec::tools {

ExitCode WritePage(const PageRequest& request);
// As `heaprec flame` without further options.
ExitCode WriteFlamePage(PageRequest request);

}  // namespace heaprec::tools
