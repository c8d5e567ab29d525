// heaprec native of a recording: sampled native memory, by call site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/analysis/groups/grouping.h"
#include "tools/render/print.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct NativeQuery {
  std::string file;
  By by = By::kSite;
  bool by_live = true;
  size_t limit = 20, callers = 0;
  uint64_t min_age_ns = 0;  // of what counts as live
  render::OutputOptions output;
};

// Whether the file begins as a recording does; "-" does.
bool IsRecording(const std::string& path);

ExitCode ShowNativeRecording(const NativeQuery& question);

}  // namespace heaprec::tools
