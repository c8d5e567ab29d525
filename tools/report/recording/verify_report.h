// `heaprec verify` as a report: whether each recording is whole and consistent.
//
// Threads:  one.
#pragma once

#include <string>

#include "tools/analysis/health/verification.h"
#include "tools/input/recording.h"
#include "tools/render/report.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// kOk, kDamaged or kCheckFailed.
ExitCode VerdictOf(const Recording& recording, const Verification& verification);

render::Group VerifyReport(const Recording& recording, const Verification& verification);
// Reports a file that cannot be opened.
render::Group UnreadableReport(const std::string& path, const std::string& error);

}  // namespace heaprec::tools
