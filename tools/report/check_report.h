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

// Broken only when the interval says so; not shown when the limit lies within it; inconclusive when the recording does
// not say how much it is.
enum class Outcome : uint8_t { kKept, kBroken, kNotShown, kInconclusive };

struct Checked {
  std::string name;  // "site:com.acme.*<5MiB/op"
  Outcome outcome = Outcome::kKept;
  Estimate value;  // in the limit's unit
  double limit = 0;
  std::string measured;  // "5.3 MiB/op (5.1 MiB/op to 5.5 MiB/op)"
  std::string allowed;   // "5.0 MiB/op"
};

// Many that were compared with a baseline, one by one, and judged together.
struct CheckedRows {
  std::string by;     // "site"
  size_t count = 0;   // that were compared
  double fdr = 0.05;  // so much of what is broken may not be
  std::vector<Checked> broken;
};

struct CheckReport {
  std::string recording;  // "rec.bin", for titles
  std::vector<Checked> checks;
  double seconds = 0;  // of the recording
  std::optional<CheckedRows> rows;
  // Why the recording, and its baseline, should not be believed: "no, because ..."; empty: they may be.
  std::string doubt, doubt_of_baseline;
  bool is_imported = false;  // either, from another recorder
  bool accepts_untrustworthy = false;

  size_t Count(Outcome outcome) const;  // of the checks
  size_t BrokenRows() const { return rows ? rows->broken.size() : 0; }
  // Nothing is judged: numbers that cannot be trusted are asked to decide.
  bool IsWithheld() const { return !accepts_untrustworthy && !(doubt.empty() && doubt_of_baseline.empty()); }
  bool IsInconclusive() const { return IsWithheld() || Count(Outcome::kInconclusive) > 0; }
  bool Fails() const { return IsInconclusive() || Count(Outcome::kBroken) > 0 || BrokenRows() > 0; }
};

Outcome OutcomeOf(const Estimate& value, double limit);

std::string AsText(const CheckReport& report);
std::string AsMarkdown(const CheckReport& report);
std::string AsJunit(const CheckReport& report);
nlohmann::json AsJson(const CheckReport& report);

}  // namespace heaprec::tools
