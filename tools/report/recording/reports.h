// `heaprec summary`, `doctor`, `verify`, `list` and `status` as reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/health/diagnosis.h"
#include "tools/analysis/health/trust.h"
#include "tools/analysis/health/verification.h"
#include "tools/analysis/totals/totals.h"
#include "tools/analysis/totals/trend.h"
#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/allocations/advice_scan.h"
#include "tools/query/live/live_query.h"
#include "tools/query/summary/headlines.h"
#include "tools/query/summary/summary_query.h"
#include "tools/render/report.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

// `heaprec summary` as a report: one screen with the headline first, and more with --verbose.

// The data of the report.
struct SummaryAnswer {
  const Recording& recording;
  const Facts& facts;
  const TrustReport& trust;
  const ClassSiteTotals& breakdown;
  const Estimator& estimator;
  size_t limit = 0;       // maximum classes and sites; 0: all
  bool is_brief = false;  // shows only the first reasons, notes and damaged ranges
  std::vector<FoundLeak> leaks{};
  std::vector<RuleFinding> advice{};
};

// The total of several recordings. They are sampled independently, so variances add up, separately for each side of an
// interval.
struct SummaryTotal {
  uint64_t recordings = 0, events = 0, counted = 0;
  Estimate bytes, objects;
  void Add(const Facts& facts, uint64_t counted_bytes);
};

// Headlines of the whole recording, with `file` as its name in commands. Empty if only a part of it was read, or it has
// no heap.
Headlines HeadlinesOf(const SummaryAnswer& answer, const std::string& file);
// `name`: empty, or "recordings[]" if there are several.
render::Group SummaryReport(const SummaryAnswer& answer, const char* name);
// `limit`: maximum rows; 0: all.
render::Table AdviceTable(const std::vector<RuleFinding>& findings, size_t limit);
render::Group TotalReport(const SummaryTotal& total);

// The recorder's counters of one stream: points, losses, its busiest interval.

// Returns lines of Detail::kWide.
std::vector<render::Line> StreamFacts(const Recording& recording, const StreamTraits& traits,
                                      const StreamTotals& totals);

// `heaprec doctor` as a report: a verdict with its findings, per recording.

bool IsTrustworthy(const std::vector<Finding>& symptoms);

// Reports on one recording. `is_one_of_many`: shows its name. `with_ok`: includes checks that passed.
render::Group DoctorReport(const Recording& recording, const std::vector<Finding>& symptoms, bool is_one_of_many,
                           bool with_ok);

// `heaprec verify` as a report: whether each recording is complete and consistent.

// kOk, kDamaged or kCheckFailed.
ExitCode VerdictOf(const Recording& recording, const Verification& verification);

render::Group VerifyReport(const Recording& recording, const Verification& verification);
// Reports a file that cannot be opened.
render::Group UnreadableReport(const std::string& path, const std::string& error);

// When memory will be full: JSON always has it, text if there is a time. In JSON as `time_to_full`.
render::Value TimeToFullValue(const std::optional<TimeToFull::Answer>& full);

// `heaprec list` and `heaprec status` as reports: JVMs, and what is recorded in them.
struct JvmState {
  JavaProcess java;
  std::optional<LiveRecording> live;
};

render::Report ListReport(const std::vector<JvmState>& jvms);
render::Report StatusReport(const JvmState& jvm);
// The recorded JVMs in Prometheus' text format.
std::string PrometheusText(const std::vector<JvmState>& jvms);

}  // namespace heaprec::tools
