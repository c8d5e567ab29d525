// heaprec native of a recording: sampled native memory, by call site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/analysis/grouping.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct NativeQuestion {
  std::string file;
  By by = By::kSite;
  bool by_live = true;
  size_t limit = 20, callers = 0;
  uint64_t least_age_ns = 0;  // of what counts as alive
  bool json = false;
};

// Whether the file begins as a recording does; "-" does.
bool IsRecording(const std::string& path);

ExitCode ShowNativeRecording(const NativeQuestion& question);

}  // namespace heaprec::tools
