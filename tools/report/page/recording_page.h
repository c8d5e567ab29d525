// The page of recordings: all their samples, other data, and its initial state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/query/compare/diff_query.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

// Headlines of a flame graph, or of a page with a part of a recording.

// "4.2 GiB in 66,089 objects, 351 MiB/s, 12.3 s".
std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan);
// Returns "4.2 MiB live in 66,089 objects that survived 3 collections"; `all`: estimates of live objects.
std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan, uint64_t survived);

// The results of diff, and its unit.
struct PageComparison {
  std::string headline;
  std::vector<std::string> warnings;  // why a side is not trustworthy
  std::string suffix;                 // "/s", "/op"
  bool shares = false, objects = false;
  std::vector<double> before, after;  // divisors of each run's amounts; empty for shares
  double fdr = 0.05, margin = 0;
  double deviation = 0, freedom = 4;  // see RunVariation
  bool is_judged = true;
  std::string gc;         // share of collections; empty: unknown
  render::Object tables;  // "classes", "sites": lists of [name, p, q, verdict] for each tested row
};

struct PageRequest {
  ScanOptions scan;                          // recordings and filters
  std::optional<ScanOptions> other;          // recordings to compare with
  std::optional<FilterOptions> other_times;  // or a second time span of the same recording
  std::string title, own;
  // Samples are thinned to this number: the page stays below 10 MB, and responds to each click at once.
  size_t max_samples = 300'000;

  // Initial view and tab, as in share.js.
  std::string view, tab;
  std::string report;  // HTML of the tab; empty: the page itself generates it
  bool said = false;   // problems of the recordings have been reported on stderr
  bool icicle = true, reverse = false;
  bool live = false;
  uint64_t least_age_ns = 0;
  std::optional<TimePoint> at;          // time at which objects must be live; nullopt: the end
  uint64_t survived = 0;                // minimum number of collections that live objects survived
  std::vector<std::string> live_given;  // both as given, for the commands that the page prints: "--at", "peak"

  // Limits for the boxes of a flame graph; 0: all.
  bool no_classes = false;
  double least_share = 0;
  size_t most_boxes = 0;
  std::optional<PageComparison> comparison;

  // Sets the initial state of `heaprec flame`.
  void OpenAsFlameGraph() {
    view = "flame";
    icicle = false;
  }
};

// The page of recordings: all their samples, other data, and its initial state.
//
// Failure:  MakePage returns the exit code, and the message for the user unless reading has printed it.
struct RecordingPage {
  ExitCode code = ExitCode::kOk;  // other than kOk and kDamaged: there is no page
  std::string error{};            // the reason; empty: reading has printed it
  std::string html{};
  size_t shown = 0;      // number of samples
  uint64_t samples = 0;  // before thinning

  bool has_failed() const { return code != ExitCode::kOk && code != ExitCode::kDamaged; }
};

// The page that compares both sides of diff, with its report as a tab.
PageRequest DiffPage(const DiffScan& diff, const render::Report& report);
// The page of the two recordings of `asked`, with the verdicts of diff. `read`: the exit code. An Error without a
// message: reading has printed it.
Result<PageRequest> ComparisonPage(const PageRequest& asked, ExitCode* read);

// The given title, or the names of the files.
std::string TitleOf(const PageRequest& request);
RecordingPage MakePage(const PageRequest& request);

}  // namespace heaprec::tools
