// The page of recordings: all their samples, what is known beside them, and how it opens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/scan/scan.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// What stands above a flame graph, or a page of a part of a recording.

// "4.2 GiB in 66,089 objects, 351 MiB/s, 12.3 s".
std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan);
// "4.2 MiB live in 66,089 objects"; `all` is of what is live.
std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan);

// The page of recordings: all their samples, what is known beside them, and how it opens.
//
// Failure:  MakePage returns the exit code, and the sentence for the user unless reading has printed it.

// What diff found, and in which unit it compared.
struct PageComparison {
  std::string headline;
  std::vector<std::string> warnings;  // why a side should not be believed
  std::string suffix;                 // "/s", "/op"
  bool shares = false, objects = false;
  std::vector<double> before, after;  // what the amounts of each run are divided by; of shares nothing
  double fdr = 0.05, margin = 0;
  double deviation = 0, freedom = 4;  // RunVariation
  bool is_judged = true;
  std::string gc;         // what collections took; empty: not known
  render::Object tables;  // "classes", "sites": a list of [name, p, q, verdict] for each row that was tested
};

struct PageRequest {
  ScanOptions scan;                          // the recordings, and what of them is shown
  std::optional<ScanOptions> other;          // to compare them with
  std::optional<FilterOptions> other_times;  // or a second span of the same recording
  std::string title, own;
  // Above it samples are thinned: a page of that many stays below 10 MB, and answers each click at once.
  size_t max_samples = 300'000;

  // How the page opens: words of share.js.
  std::string view, tab;
  std::string report;  // of the tab, as HTML; empty: it is one that the page makes itself
  bool said = false;   // what is wrong with the recordings was said on stderr
  bool icicle = true, reverse = false;
  bool live = false;
  uint64_t least_age_ns = 0;
  std::optional<TimePoint> at;  // when objects are to be live; nullopt: at the end

  // Which boxes a flame graph has: 0: all.
  bool no_classes = false;
  double least_share = 0;
  size_t most_boxes = 0;
  std::optional<PageComparison> comparison;

  // As `heaprec flame` opens it.
  void OpenAsFlameGraph() {
    view = "flame";
    icicle = false;
  }
};

struct RecordingPage {
  ExitCode code = ExitCode::kOk;  // other than kOk and kDamaged: there is no page
  std::string error{};            // why not; empty: reading has printed it
  std::string html{};
  size_t shown = 0;      // samples
  uint64_t samples = 0;  // before thinning

  bool has_failed() const { return code != ExitCode::kOk && code != ExitCode::kDamaged; }
};

// As given, or the names of the files.
std::string TitleOf(const PageRequest& request);
RecordingPage MakePage(const PageRequest& request);

}  // namespace heaprec::tools
