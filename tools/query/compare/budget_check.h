// Whether recordings keep their budgets, and what they allocate more than a baseline: estimates as verdicts.
//
//   const auto question = CheckQuestion::Parse(options);   // bad options: exit code kUsage
//   CheckAnswer answer;
//   const ExitCode read = Check(*question, &answer);
//
// Threads:  one.
// Failure:  Parse returns the sentence for the user. Check's, as RecordingScan::Run's.
// Maths:    docs/estimates.md#differences
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/analysis/grouping.h"
#include "tools/query/compare/budget.h"
#include "tools/query/compare/comparison.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

inline constexpr char kNoRows[] = "none";  // of --by

// As given on the command line.
struct CheckOptions {
  ScanOptions scan;  // of the baselines, too, but for the files
  std::vector<std::string> budgets, baselines;
  std::string per, by = "site";
  std::optional<double> operations, baseline_operations;
  double regression = -1;  // so much more is allowed: 0.03; below 0: not given
  double fdr = 0.05;       // of rows
  bool accepts_untrustworthy = false;
};

struct CheckQuestion {
  CheckOptions options;
  std::vector<Budget> budgets;
  std::vector<Budget> subjects;  // that are compared with a baseline: the total first
  std::vector<Grouping> rows;    // none, or what a baseline is compared by
  bool counts_events = false;    // of exceptions, of which bytes and objects are the same

  static format::Result<CheckQuestion> Parse(const CheckOptions& options);
};

// Exceeded or within only when the whole interval is; inconclusive when the limit lies within it (kInconclusive), or
// the recording does not say how much it is (kUnknown).
enum class CheckOutcome : uint8_t { kWithin, kExceeded, kInconclusive, kUnknown };

struct CheckResult {
  std::string name;  // "site:com.acme.*<5MiB/op"
  CheckOutcome outcome = CheckOutcome::kWithin;
  Estimate value;  // in the limit's unit; against a baseline what is after divided by what was before
  double limit = 0;
  // How amounts are read: "/op", " objects/s". Against a baseline, those before and after.
  render::Unit unit = render::Unit::kBytes;
  std::string suffix;
  std::optional<Difference> difference;  // against a baseline
};

// Many that were compared with a baseline, one by one, and judged together.
struct CheckedRows {
  std::string by;         // "site"
  size_t count = 0;       // that were compared
  double fdr = 0.05;      // so much of what is exceeded may not be
  double detectable = 0;  // the least change that would be found where a row has 5 % of all
  std::vector<CheckResult> exceeded;
};

struct CheckAnswer {
  std::string recording;  // "rec.bin", for titles
  std::vector<CheckResult> checks;
  double seconds = 0;  // of the recording
  std::optional<CheckedRows> rows;
  // Why the recording, and its baseline, should not be believed: "no, because ..."; empty: they may be.
  std::string doubt, doubt_of_baseline;
  size_t runs = 1, runs_of_baseline = 0;  // 0: there is no baseline
  bool is_imported = false;               // either, from another recorder
  bool accepts_untrustworthy = false;

  size_t Count(CheckOutcome outcome) const {  // of the checks
    return static_cast<size_t>(std::ranges::count(checks, outcome, &CheckResult::outcome));
  }
  size_t Exceeded() const { return Count(CheckOutcome::kExceeded) + (rows ? rows->exceeded.size() : 0); }
  // Nothing is judged: numbers that cannot be trusted are asked to decide.
  bool IsWithheld() const { return !accepts_untrustworthy && !(doubt.empty() && doubt_of_baseline.empty()); }
  bool Fails() const { return IsWithheld() || Count(CheckOutcome::kUnknown) > 0 || Exceeded() > 0; }
  // The checks, then the rows that are exceeded.
  std::vector<CheckResult> All() const;
};

ExitCode Check(const CheckQuestion& question, CheckAnswer* answer);

}  // namespace heaprec::tools
