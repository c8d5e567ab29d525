// Checks recordings against budgets and a baseline: converts estimates to outcomes for CI.
//
//   const auto question = CheckQuestion::Parse(options);   // bad options: exit code kUsage
//   CheckAnswer answer;
//   const ExitCode read = Check(*question, &answer);
//
// Failure:  Parse returns the message for the user. Check fails as RecordingScan::Run does.
// Maths:    docs/estimates.md#differences
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/compare/budget.h"
#include "tools/query/compare/comparison.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

inline constexpr char kByNothing[] = "none";  // value of --by

// As given on the command line.
struct CheckOptions {
  ScanOptions scan;  // except for the files, also for the baselines
  std::vector<std::string> budgets, baselines;
  std::string per, by = "site";
  std::optional<double> operations, baseline_operations;
  double regression = -1;  // maximum increase over the baseline, such as 0.03; negative: not given
  double fdr = 0.05;       // false discovery rate of the rows
  bool accepts_untrustworthy = false;
  bool is_strict = false;  // inconclusive checks fail, too
};

struct CheckQuestion {
  CheckOptions options;
  std::vector<Budget> budgets;
  std::vector<Budget> subjects;  // compared with a baseline; the total is first
  std::vector<Grouping> rows;    // the key of the rows compared with a baseline; empty: no rows
  bool counts_events = false;    // --kind exception: weights are events

  static Result<CheckQuestion> Parse(const CheckOptions& options);
};

// kWithin, kExceeded: the whole interval is below or above the limit. kInconclusive: the limit is inside the interval.
// kUnknown: the recording does not have the quantity, or no name matches the pattern.
enum class CheckOutcome : uint8_t { kWithin, kExceeded, kInconclusive, kUnknown };

struct CheckResult {
  std::string name;  // "site:com.acme.*<5MiB/op"
  CheckOutcome outcome = CheckOutcome::kWithin;
  Estimate value;  // in the unit of the limit; against a baseline the ratio of after to before
  double limit = 0;
  // How amounts are shown: "/op", " objects/s". Against a baseline: the amounts before and after.
  render::Unit unit = render::Unit::kBytes;
  std::string suffix;
  std::optional<Difference> difference;  // against a baseline
  // Inconclusive because a single run per side is not sufficient, even with many samples.
  bool needs_runs = false;
  std::string why_unknown;  // "no method matches; nearest: A.b, C.d"; empty: the quantity is missing
};

// Rows compared with a baseline, tested together at a false discovery rate.
struct CheckedRows {
  std::string by;         // "site"
  size_t count = 0;       // of compared rows
  double fdr = 0.05;      // false discovery rate among `exceeded`
  double detectable = 0;  // smallest detectable change of a row with 5 % of all bytes
  bool is_judged = true;  // false: rates of single runs, without verdicts
  std::vector<CheckResult> exceeded;
};

struct CheckAnswer {
  std::string recording;  // "rec.bin", for titles
  std::vector<CheckResult> checks;
  double seconds = 0;  // of the recording
  std::optional<CheckedRows> rows;
  // Why the recording, or its baseline, is not trustworthy: "no, because ..."; empty: it is trustworthy.
  std::string doubt, doubt_of_baseline;
  size_t runs = 1, runs_of_baseline = 0;  // 0: there is no baseline
  bool is_imported = false;               // one of them is from another recorder
  bool accepts_untrustworthy = false, is_strict = false;
  std::string observed;      // data that budgets are checked from: LossTotals::Line
  render::Object scan;       // the same for JSON
  std::string merged_names;  // MergedNames::Text

  size_t Count(CheckOutcome outcome) const {  // number of checks
    return static_cast<size_t>(std::ranges::count(checks, outcome, &CheckResult::outcome));
  }
  size_t Exceeded() const { return Count(CheckOutcome::kExceeded) + (rows ? rows->exceeded.size() : 0); }
  // Whether no budget is checked, because a recording is not trustworthy.
  bool IsWithheld() const { return !accepts_untrustworthy && !(doubt.empty() && doubt_of_baseline.empty()); }
  bool Fails() const {
    return IsWithheld() || Count(CheckOutcome::kUnknown) > 0 || Exceeded() > 0 ||
           (is_strict && Count(CheckOutcome::kInconclusive) > 0);
  }
  // Returns the checks, followed by the exceeded rows.
  std::vector<CheckResult> All() const;
};

ExitCode Check(const CheckQuestion& question, CheckAnswer* answer);

}  // namespace heaprec::tools
