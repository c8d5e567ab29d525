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

Estimate Over(const Estimate& of, double exposure) {
  return exposure > 0 ? Scaled(of, 1 / exposure) : kUnknownEstimate;
}

Estimate ValueOf(const Budget& budget, const Figures& figures, const Exposure& exposure) {
  if (budget.unit == Unit::kShare) return figures.share;
  const Estimate of = budget.unit == Unit::kObjects ? figures.objects : figures.bytes;
  if (budget.per == Budget::Per::kRecording) return of;
  return Over(of, budget.per == Budget::Per::kOp ? exposure.operations : exposure.seconds);
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

Outcome OutcomeOfBudget(const Budget& budget, const Estimate& value, const Figures& figures) {
  if (budget.limit <= 0 && figures.samples > 0) return Outcome::kBroken;
  return OutcomeOf(value, budget.limit);
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

Checked CheckedRatio(const Baseline& baseline, std::string_view subject, Unit unit, const Difference& of) {
  const Scale scale = baseline.ScaleOf(baseline.now, unit);
  const bool counts = unit == Unit::kObjects || baseline.counted == Counted::kEvents;
  const ValueStyle style{counts ? ValueStyle::Unit::kCount : ValueStyle::Unit::kBytes, scale.Suffix()};
  const double most = 1 + baseline.most;
  return {fmt::format("{} against the baseline, {}{}", subject, Noun(unit, baseline.counted), scale.Suffix()),
          OutcomeOf(of.ratio, most),
          of.ratio,
          most,
          MeasuredText(of, style),
          PercentText(most)};
}

}  // namespace

Checked CheckBudget(const Budget& budget, const Figures& figures, const Exposure& exposure, Counted counted) {
  static constexpr std::array<std::string_view, 3> kSuffixes{"", "/s", "/op"};
  const Estimate value = ValueOf(budget, figures, exposure);
  const auto text = [&](double number) {
    return NumberText(number, budget.unit, counted, kSuffixes[static_cast<size_t>(budget.per)]);
  };
  return {ToUtf8(budget.text),
          OutcomeOfBudget(budget, value, figures),
          value,
          budget.limit,
          WithInterval(text(value.value), text(value.low), text(value.high)),
          text(budget.limit)};
}

Scale Baseline::ScaleOf(const Exposure& exposure, Unit unit) const {
  return {.per = now.operations > 0 ? Per::kOp : Per::kSecond,
          .objects = unit == Unit::kObjects,
          .operations = exposure.operations,
          .seconds = exposure.seconds};
}

Checked CheckRegression(const Baseline& baseline, const Budget& budget, const Figures& before, const Figures& now) {
  const Difference difference = Compare(baseline.ScaleOf(baseline.before, budget.unit).Of(before),
                                        baseline.ScaleOf(baseline.now, budget.unit).Of(now));
  return CheckedRatio(baseline, ToUtf8(budget.subject_text), budget.unit, difference);
}

CheckedRows CheckRows(const Baseline& baseline, const Grouping& by, const GroupTable& before, const GroupTable& now,
                      const CallTree& tree) {
  const std::vector<ComparedRow> rows = CompareTables(
      before, baseline.ScaleOf(baseline.before, Unit::kBytes), now, baseline.ScaleOf(baseline.now, Unit::kBytes),
      {.margin = baseline.most, .fdr = baseline.fdr, .asked = Asked::kMore});
  CheckedRows checked{by.Text(), rows.size(), baseline.fdr, {}};
  for (const ComparedRow& row : rows) {
    if (row.difference.verdict == Verdict::kSame) continue;
    const std::string subject = fmt::format("{}:{}", by.Text(), RowName(by, row.key, tree));
    checked.broken.push_back(CheckedRatio(baseline, subject, Unit::kBytes, row.difference));
    checked.broken.back().outcome = Outcome::kBroken;
  }
  return checked;
}

}  // namespace heaprec::tools
