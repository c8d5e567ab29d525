#include <algorithm>
#include <array>
#include <cmath>

#include "tools/export/check_formats.h"
#include "tools/report/estimates/reports.h"

namespace heaprec::tools {

using namespace render;

namespace {

Column<CheckResult> OutcomeInJson() {
  static constexpr std::array<const char*, 4> kNames{"within", "exceeded", "inconclusive", "unknown"};
  return {"outcome", "", Unit::kText, Detail::kJsonOnly,
          [](const CheckResult& check) { return kNames[static_cast<size_t>(check.outcome)]; }};
}

Column<CheckResult> Outcome() {
  static constexpr std::array<const char*, 4> kWords{"within", "EXCEEDED", "inconclusive", "unknown"};
  return {"", "outcome", Unit::kText, Detail::kAlways,
          [](const CheckResult& check) { return kWords[static_cast<size_t>(check.outcome)]; }};
}

// `amount`: the unit of the value and its limit.
std::vector<Column<CheckResult>> Columns(const std::string& value, Unit amount) {
  return {OutcomeInJson(),
          Outcome(),
          {"value", value, amount, Detail::kAlways, &CheckResult::value, Detail::kAlways},
          {"limit", "allowed", amount, Detail::kAlways, &CheckResult::limit},
          {"needs_runs", "", Unit::kInteger, Detail::kJsonOnly, &CheckResult::needs_runs},
          {"measured", "", Unit::kText, Detail::kJsonOnly, MeasuredText},
          {"allowed", "", Unit::kText, Detail::kJsonOnly, AllowedText},
          {"why_unknown", "", Unit::kText, Detail::kJsonOnly, &CheckResult::why_unknown}};
}

// Makes the table of budgets, or of comparisons with a baseline. In JSON both are one array.
Table TableOf(const std::vector<Column<CheckResult>>& columns, const std::vector<CheckResult>& checks) {
  Table table = MakeTable("checks", columns, checks);
  for (size_t i = 0; i < checks.size(); ++i) {
    table.rows[i].unit = checks[i].unit, table.rows[i].suffix = checks[i].suffix;
  }
  return table;
}

Table BudgetTable(const std::vector<CheckResult>& checks) {
  std::vector<Column<CheckResult>> columns = Columns("measured", Unit::kByRow);
  columns.push_back({"name", "budget", Unit::kText, Detail::kAlways, &CheckResult::name});
  return TableOf(columns, checks);
}

Table BaselineTable(const std::vector<CheckResult>& checks) {
  std::vector<Column<CheckResult>> columns = Columns("change", Unit::kRatio);
  columns.push_back({"before", "before", Unit::kByRow, Detail::kAlways,
                     [](const CheckResult& check) -> Value { return check.difference->before; }});
  columns.push_back({"after", "after", Unit::kByRow, Detail::kAlways,
                     [](const CheckResult& check) -> Value { return check.difference->after; }});
  columns.push_back({"name", "compared", Unit::kText, Detail::kAlways, &CheckResult::name});
  return TableOf(columns, checks);
}

Line HeadlineOf(const CheckAnswer& answer) {
  if (answer.IsWithheld()) {
    const char* const import =
        "an import from another recorder is never trustworthy, because its weights are biased: record with heaprec, or "
        "use --accept-untrustworthy";
    return Sentence("{}: {}; {}", {{"recording", answer.recording},
                                   {"", WithheldText(answer)},
                                   {"", answer.is_imported ? import : "--accept-untrustworthy checks it anyway"}});
  }
  Line line = Sentence("{}: {} of {} budgets exceeded, {} inconclusive",
                       {{"recording", answer.recording},
                        {"", answer.Count(CheckOutcome::kExceeded), Unit::kInteger},
                        {"", answer.checks.size(), Unit::kInteger},
                        {"", answer.Count(CheckOutcome::kInconclusive), Unit::kInteger}});
  const size_t unknown = answer.Count(CheckOutcome::kUnknown);
  return unknown > 0 ? line.Continue(", {} unknown", {{"", unknown, Unit::kInteger}}) : line;
}

// "by site: 2 of 412 allocate more than the baseline allows; a site with 5 % of all must grow by 34 % to be noticed"
Line RowsLine(const CheckedRows& rows) {
  Line line = Sentence("by {}: {} of {} allocate more than the baseline allows",
                       {{"rows.by", rows.by},
                        {"rows.exceeded", rows.exceeded.size(), Unit::kInteger},
                        {"rows.count", rows.count, Unit::kInteger}});
  if (!rows.is_judged) {
    line.text = "by {}: not judged";
  } else if (std::isfinite(rows.detectable)) {
    line.Continue("; a " + rows.by + " with 5 % of all must grow by {} to be noticed",
                  {{"", rows.detectable, Unit::kShare}});
  }
  return line.Continue("", {{"rows.judged", rows.is_judged},
                            {"rows.fdr", rows.fdr, Unit::kShare},
                            {"rows.detectable_at_5_percent", rows.detectable, Unit::kShare}});
}

bool NeedsRuns(const CheckAnswer& answer) {
  return std::ranges::any_of(answer.checks, &CheckResult::needs_runs) || (answer.rows && !answer.rows->is_judged);
}

// Shows the number of runs, or the limits of a single run per side.
Line RunsLine(const CheckAnswer& answer) {
  const std::vector<Field> runs{{"runs", answer.runs, Unit::kInteger},
                                {"runs_of_baseline", answer.runs_of_baseline, Unit::kInteger}};
  if (answer.runs_of_baseline == 0) return Hidden(runs);
  if (answer.runs + answer.runs_of_baseline > 2) return Sentence("{} run(s) against {} of the baseline", runs);
  Line line = Hidden(runs);
  line.text =
      NeedsRuns(answer)
          ? "one run of each side: its total and rates also depend on the machine's speed and the duration, so they "
            "have no verdict; give --ops N (operations of a run), --per total if both did the same work, or three runs "
            "of each side"
          : "one run per side shows only large changes; record three runs per side to find smaller ones";
  line.detail = Detail::kAlways;
  return line;
}

}  // namespace

Report CheckReport(const CheckAnswer& answer) {
  Report report("heaprec.check/1");
  report.Add(HeadlineOf(answer));
  const std::vector<std::string> doubts = TrustTexts(answer);
  report.Add(Hidden({{"seconds", answer.seconds, Unit::kSeconds},
                     {"budgets", answer.checks.size(), Unit::kInteger},
                     {"exceeded", answer.Exceeded(), Unit::kInteger},
                     {"inconclusive", answer.Count(CheckOutcome::kInconclusive), Unit::kInteger},
                     {"unknown", answer.Count(CheckOutcome::kUnknown), Unit::kInteger},
                     {"withheld", answer.IsWithheld()},
                     {"trustworthy", doubts.empty()},
                     {"reasons", doubts}}));
  if (answer.rows) report.Add(RowsLine(*answer.rows));
  report.Add(RunsLine(answer));
  std::vector<CheckResult> budgets, compared;
  for (const CheckResult& check : answer.All()) (check.difference ? compared : budgets).push_back(check);
  if (!budgets.empty()) report.Add(BudgetTable(budgets));
  if (!compared.empty()) report.Add(BaselineTable(compared));
  for (const CheckResult& check : budgets) {
    if (!check.why_unknown.empty()) report.Add(Sentence("# {}: {}", {{"", check.name}, {"", check.why_unknown}}));
  }
  report.Add(Sentence(answer.observed));
  report.Add(Hidden({{"scan", answer.scan}}));
  if (!answer.merged_names.empty()) report.Add(Sentence("# " + answer.merged_names));
  for (const std::string& doubt : doubts) report.Add(Sentence("# " + doubt));
  return report;
}

}  // namespace heaprec::tools
