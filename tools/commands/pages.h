// The page of recordings, which report shows whole, and other commands from their side.
//
// Failure:  what went wrong is said on stderr.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/query/filter/time_point.h"
#include "tools/query/scan.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct PageRequest {
  ScanOptions scan;                  // the recordings, and what of them is shown
  std::optional<ScanOptions> other;  // to compare them with
  std::string output, title, own;
  // Above it samples are thinned: a page of that many stays below 10 MB, and answers each click at once.
  size_t max_samples = 300'000;
  bool force = false, quiet = false;
  // How the page opens: a state of state.js, and what it shows of the boxes (trees.js, flame.js).
  nlohmann::json state = nlohmann::json::object(), boxes = nlohmann::json::object();
  std::optional<TimePoint> at;  // when objects are to be live; nullopt: at the end
};

ExitCode WritePage(const PageRequest& request);
// As `heaprec flame` without further options.
ExitCode WriteFlamePage(PageRequest request);

}  // namespace heaprec::tools
