// What a check came to, and its report in the forms that people and CI servers read.
//
// Failure:  none. Texts may hold names from recordings: each form escapes them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

// Exceeded or within only when the whole interval is; inconclusive when the limit lies within it (kInconclusive), or
// the recording does not say how much it is (kUnknown).
enum class CheckOutcome : uint8_t { kWithin, kExceeded, kInconclusive, kUnknown };

struct CheckResult {
  std::string name;  // "site:com.acme.*<5MiB/op"
  CheckOutcome outcome = CheckOutcome::kWithin;
  Estimate value;  // in the limit's unit
  double limit = 0;
  std::string measured;  // "5.3 MiB/op (5.1 MiB/op to 5.5 MiB/op)"
  std::string allowed;   // "5.0 MiB/op"
};

// Many that were compared with a baseline, one by one, and judged together.
struct CheckedRows {
  std::string by;         // "site"
  size_t count = 0;       // that were compared
  double fdr = 0.05;      // so much of what is broken may not be
  double detectable = 0;  // the least change that would be found where a row has 5 % of all
  std::vector<CheckResult> broken;
};

struct CheckReport {
  std::string recording;  // "rec.bin", for titles
  std::vector<CheckResult> checks;
  double seconds = 0;  // of the recording
  std::optional<CheckedRows> rows;
  // Why the recording, and its baseline, should not be believed: "no, because ..."; empty: they may be.
  std::string doubt, doubt_of_baseline;
  size_t runs_now = 1, runs_of_baseline = 0;  // 0: there is no baseline
  bool is_imported = false;                   // either, from another recorder
  bool accepts_untrustworthy = false;

  size_t Count(CheckOutcome outcome) const;  // of the checks
  size_t BrokenRows() const { return rows ? rows->broken.size() : 0; }
  // Nothing is judged: numbers that cannot be trusted are asked to decide.
  bool IsWithheld() const { return !accepts_untrustworthy && !(doubt.empty() && doubt_of_baseline.empty()); }
  bool IsInconclusive() const { return IsWithheld() || Count(CheckOutcome::kUnknown) > 0; }
  bool Fails() const { return IsInconclusive() || Count(CheckOutcome::kExceeded) > 0 || BrokenRows() > 0; }
};

CheckOutcome CheckOutcomeOf(const Estimate& value, double limit);

std::string AsText(const CheckReport& report);
std::string AsMarkdown(const CheckReport& report);
std::string AsJunit(const CheckReport& report);
// SARIF 2.1.0: what is exceeded as errors, what is inconclusive as warnings.
nlohmann::json AsSarif(const CheckReport& report);
nlohmann::json AsJson(const CheckReport& report);

}  // namespace heaprec::tools
