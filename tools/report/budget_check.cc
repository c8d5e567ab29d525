#include "tools/report/budget_check.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/report/difference_format.h"
#include "tools/report/estimate_format.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

using Unit = Budget::Unit;

Estimate Over(const Estimate& of, double normalization) {
  return normalization > 0 ? Scaled(of, 1 / normalization) : kUnknownEstimate;
}

Estimate ValueOf(const Budget& budget, const GroupEstimates& estimates, const Normalization& normalization) {
  if (budget.unit == Unit::kShare) return estimates.share;
  const Estimate of = budget.unit == Unit::kObjects ? estimates.objects : estimates.bytes;
  if (budget.per == Budget::Per::kRecording) return of;
  return Over(of, budget.per == Budget::Per::kOp ? normalization.operations : normalization.seconds);
}

// "bytes", "objects"; of exceptions both are events.
std::string_view Noun(Unit unit, Counted counted) {
  if (counted == Counted::kEvents) return "events";
  return unit == Unit::kObjects ? "objects" : "bytes";
}

std::string NumberText(double value, Unit unit, Counted counted, std::string_view suffix) {
  if (std::isnan(value)) return "unknown";
  if (std::isinf(value)) return "any";
  if (unit == Unit::kShare) return fmt::format("{:.1f} %", 100 * value);
  if (unit == Unit::kBytes && counted == Counted::kBytes) return Bytes(value) + std::string(suffix);
  const std::string count =
      value < 100 ? fmt::format("{:.3g}", value) : Grouped(static_cast<uint64_t>(std::llround(value)));
  return fmt::format("{} {}{}", count, Noun(unit, counted), suffix);
}

CheckOutcome CheckOutcomeOfBudget(const Budget& budget, const Estimate& value, const GroupEstimates& estimates) {
  if (budget.limit <= 0 && estimates.samples > 0) return CheckOutcome::kExceeded;
  return CheckOutcomeOf(value, budget.limit);
}

std::string PercentText(double ratio) {
  if (std::isnan(ratio)) return "unknown";
  return std::isinf(ratio) ? "any" : fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string MeasuredText(const Difference& of, const ValueStyle& style) {
  const auto text = [&](double value) { return ValueText(value, style); };
  if (std::isnan(of.before.value) || std::isnan(of.after.value)) return "unknown";
  if (!(of.before.value > 0) && of.after.value > 0) {
    return "new, " + WithInterval(text(of.after.value), text(of.after.low), text(of.after.high));
  }
  const std::string ratio =
      WithInterval(PercentText(of.ratio.value), PercentText(of.ratio.low), PercentText(of.ratio.high));
  return fmt::format("{}, from {} to {}", ratio, text(of.before.value), text(of.after.value));
}

CheckResult CheckedRatio(const Baseline& baseline, std::string_view subject, Unit unit, const Difference& of) {
  const Scale scale = baseline.ScaleOf({}, unit);
  const bool counts = unit == Unit::kObjects || baseline.counted == Counted::kEvents;
  const bool is_share = scale.per == Per::kShare;
  const ValueStyle style{is_share ? ValueStyle::Unit::kShare
                         : counts ? ValueStyle::Unit::kCount
                                  : ValueStyle::Unit::kBytes,
                         scale.Suffix()};
  const double most = 1 + baseline.most;
  return {fmt::format("{} against the baseline, {}{}{}", subject, is_share ? "share of " : "",
                      Noun(unit, baseline.counted), scale.Suffix()),
          CheckOutcomeOf(of.ratio, most),
          of.ratio,
          most,
          MeasuredText(of, style),
          PercentText(most)};
}

}  // namespace

CheckResult CheckBudget(const Budget& budget, const GroupEstimates& estimates, const Normalization& normalization,
                        Counted counted) {
  static constexpr std::array<std::string_view, 3> kSuffixes{"", "/s", "/op"};
  const Estimate value = ValueOf(budget, estimates, normalization);
  const auto text = [&](double number) {
    return NumberText(number, budget.unit, counted, kSuffixes[static_cast<size_t>(budget.per)]);
  };
  return {ToUtf8(budget.text),
          CheckOutcomeOfBudget(budget, value, estimates),
          value,
          budget.limit,
          WithInterval(text(value.value), text(value.low), text(value.high)),
          text(budget.limit)};
}

Scale Baseline::ScaleOf(const Normalization& normalization, Unit unit) const {
  Scale scale{.per = per,
              .objects = unit == Unit::kObjects,
              .operations = normalization.operations,
              .seconds = normalization.seconds,
              .cpu_seconds = normalization.cpu_seconds};
  // There are no shares of objects: their rate is what tells most.
  if (per == Per::kShare && scale.objects) scale.per = Per::kSecond;
  return scale;
}

std::vector<Estimate> Baseline::ValuesOf(const SideOfBaseline& side, size_t subject, Unit unit) const {
  std::vector<Estimate> values;
  for (const SideOfBaseline::Run& run : side.runs) {
    Scale scale = ScaleOf(run.normalization, unit);
    // The share of all is always the same.
    if (subject == 0 && scale.per == Per::kShare) scale.per = Per::kSecond;
    values.push_back(scale.Of(run.estimates[subject]));
  }
  return values;
}

std::vector<TableOfRun> Baseline::TablesOf(const SideOfBaseline& side) const {
  std::vector<TableOfRun> tables;
  for (const SideOfBaseline::Run& run : side.runs) {
    tables.push_back({run.table, ScaleOf(run.normalization, Unit::kBytes), run.progress, run.parts});
  }
  return tables;
}

// A subject stands alone: how it varies between runs only its own runs tell. Of one run a side, sampling error does.
CheckResult CheckRegression(const Baseline& baseline, const Budget& budget, size_t index) {
  const RunsOfRow runs{baseline.ValuesOf(baseline.before, index, budget.unit),
                       baseline.ValuesOf(baseline.now, index, budget.unit), 0};
  Baseline as = baseline;
  if (index == 0 && as.per == Per::kShare) as.per = Per::kSecond;
  return CheckedRatio(as, ToUtf8(budget.subject_text), budget.unit, CompareTotals(runs));
}

CheckedRows CheckRows(const Baseline& baseline, const Grouping& by, const CallTree& tree) {
  const ComparedRows rows = CompareTables(baseline.TablesOf(baseline.before), baseline.TablesOf(baseline.now),
                                          {.margin = baseline.most, .fdr = baseline.fdr, .asked = Alternative::kMore});
  CheckedRows checked{by.Text(), rows.rows.size(), baseline.fdr, rows.runs.DetectableAt(0.05), {}};
  for (const ComparedRow& row : rows.rows) {
    if (row.difference.verdict == Verdict::kSame) continue;
    const std::string subject = fmt::format("{}:{}", by.Text(), RowName(by, row.key, tree));
    checked.broken.push_back(CheckedRatio(baseline, subject, Unit::kBytes, row.difference));
    checked.broken.back().outcome = CheckOutcome::kExceeded;
  }
  return checked;
}

}  // namespace heaprec::tools
