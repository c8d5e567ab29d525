// heaprec check: whether a recording keeps its budgets, for CI.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/analysis/difference.h"
#include "tools/budget.h"
#include "tools/budget_survey.h"
#include "tools/complain.h"
#include "tools/percent_option.h"
#include "tools/render/output.h"
#include "tools/render/text.h"
#include "tools/render/utf8.h"
#include "tools/render/verdicts.h"
#include "tools/survey.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

struct CheckOptions {
  SurveyOptions survey;
  std::vector<std::string> budgets;
  std::string baseline, format = "text";
  std::optional<double> operations, baseline_operations;
  double regression = -1;  // not given
};

// What a recording's figures are divided by.
struct Exposure {
  double seconds = 0, operations = 0;
};

// Not known is from 0 to infinity.
Estimate Over(const Estimate& of, double exposure) {
  return exposure > 0 ? Scaled(of, 1 / exposure) : Estimate{0, 0, INFINITY};
}

Estimate ValueOf(const Budget& budget, const Figures& figures, const Exposure& exposure) {
  if (budget.unit == Budget::Unit::kShare) return figures.share;
  const Estimate& of = budget.unit == Budget::Unit::kObjects ? figures.objects : figures.bytes;
  if (budget.per == Budget::Per::kRecording) return of;
  return Over(of, budget.per == Budget::Per::kOp ? exposure.operations : exposure.seconds);
}

std::string NumberText(double value, Budget::Unit unit, std::string_view suffix) {
  if (std::isinf(value)) return "any";
  if (unit == Budget::Unit::kShare) return fmt::format("{:.1f} %", 100 * value);
  if (unit == Budget::Unit::kBytes) return Bytes(value) + std::string(suffix);
  const std::string count =
      value < 100 ? fmt::format("{:.3g}", value) : Grouped(static_cast<uint64_t>(std::llround(value)));
  return count + " objects" + std::string(suffix);
}

std::string MeasuredText(const Estimate& value, Budget::Unit unit, std::string_view suffix) {
  return fmt::format("{} ({} to {})", NumberText(value.value, unit, suffix), NumberText(value.low, unit, suffix),
                     NumberText(value.high, unit, suffix));
}

Checked CheckBudget(const Budget& budget, const Figures& figures, const Exposure& exposure) {
  static constexpr std::array<std::string_view, 3> kSuffixes{"", "/s", "/op"};
  const std::string_view suffix = kSuffixes[static_cast<size_t>(budget.per)];
  const Estimate value = ValueOf(budget, figures, exposure);
  return {ToUtf8(budget.text), OutcomeOf(value, budget.limit),           value,
          budget.limit,        MeasuredText(value, budget.unit, suffix), NumberText(budget.limit, budget.unit, suffix)};
}

std::string PercentText(double ratio) {
  return std::isinf(ratio) ? "any" : fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

// By how much more than the baseline's, per operation or second.
Checked CheckRegression(const Budget& budget, const Figures& before, const Exposure& exposure_before,
                        const Figures& after, const Exposure& exposure_after, double most) {
  const bool per_op = exposure_after.operations > 0;
  const auto rate = [&](const Figures& of, const Exposure& over) {
    return Over(budget.unit == Budget::Unit::kObjects ? of.objects : of.bytes, per_op ? over.operations : over.seconds);
  };
  const Estimate ratio = Compare(rate(before, exposure_before), rate(after, exposure_after)).ratio;
  const char* const what = budget.unit == Budget::Unit::kObjects ? "objects" : "bytes";
  return {fmt::format("{} against the baseline, {}/{}", ToUtf8(budget.subject_text), what, per_op ? "op" : "s"),
          OutcomeOf(ratio, 1 + most),
          ratio,
          1 + most,
          fmt::format("{} ({} to {})", PercentText(ratio.value), PercentText(ratio.low), PercentText(ratio.high)),
          PercentText(1 + most)};
}

std::optional<format::Error> WhatIsWrong(const CheckOptions& options, const std::vector<Budget>& budgets) {
  if (budgets.empty() && options.baseline.empty()) {
    return format::Error{"nothing to check: give --budget 'total<2GB', or --baseline old.bin --max-regression 3%"};
  }
  if (options.baseline.empty() != (options.regression < 0)) {
    return format::Error{"--baseline and --max-regression belong together: --baseline old.bin --max-regression 3%"};
  }
  const bool per_op =
      std::any_of(budgets.begin(), budgets.end(), [](const Budget& budget) { return budget.per == Budget::Per::kOp; });
  if (per_op && !options.operations) return format::Error{"a budget per op needs --ops N: how many there were"};
  if (options.baseline_operations && !options.operations) return format::Error{"--baseline-ops needs --ops"};
  return {};
}

// Of each subject once, and of all.
std::vector<Budget> Subjects(const std::vector<Budget>& budgets) {
  std::vector<Budget> subjects;
  Budget total;
  total.subject_text = "total";
  subjects.push_back(total);
  for (const Budget& budget : budgets) {
    const bool known = std::any_of(subjects.begin(), subjects.end(), [&](const Budget& one) {
      return one.subject_text == budget.subject_text && one.unit == budget.unit;
    });
    if (!known && budget.unit != Budget::Unit::kShare) subjects.push_back(budget);
  }
  return subjects;
}

ExitCode Usage(const format::Error& error) {
  Complain(error.message);
  return ExitCode::kUsage;
}

// Reads the files into figures of the budgets.
ExitCode Read(const SurveyOptions& options, BudgetSurvey* into) {
  auto survey = Survey::Parse(options);
  if (!survey.ok()) return Usage(survey.error());
  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, survey->TreeOptions());
  return survey->Run(&tree, into);
}

std::string Rendered(const CheckReport& report, const std::string& format) {
  if (format == "markdown") return AsMarkdown(report);
  if (format == "junit") return AsJunit(report);
  if (format == "json") return AsJson(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return AsText(report);
}

ExitCode Check(const CheckOptions& options) {
  std::vector<Budget> budgets;
  for (const std::string& text : options.budgets) {
    auto budget = Budget::Parse(text);
    if (!budget.ok()) return Usage(budget.error());
    budgets.push_back(std::move(*budget));
  }
  if (const auto wrong = WhatIsWrong(options, budgets)) return Usage(*wrong);
  const std::vector<Budget> subjects = options.baseline.empty() ? std::vector<Budget>() : Subjects(budgets);
  std::vector<Budget> asked = budgets;
  asked.insert(asked.end(), subjects.begin(), subjects.end());

  BudgetSurvey now(&asked), before(&subjects);
  const ExitCode read = Read(options.survey, &now);
  if (read != ExitCode::kOk && read != ExitCode::kDamaged) return read;
  const Exposure exposure{now.seconds(), options.operations.value_or(0)};
  CheckReport report{ToUtf8(options.survey.files.front()), {}, now.seconds()};
  for (size_t i = 0; i < budgets.size(); ++i) {
    report.checks.push_back(CheckBudget(budgets[i], now.Of(i), exposure));
  }
  if (!options.baseline.empty()) {
    SurveyOptions old = options.survey;
    old.files = {options.baseline};
    const ExitCode code = Read(old, &before);
    if (code != ExitCode::kOk && code != ExitCode::kDamaged) return code;
    const Exposure of_old{before.seconds(), options.baseline_operations.value_or(options.operations.value_or(0))};
    for (size_t i = 0; i < subjects.size(); ++i) {
      report.checks.push_back(
          CheckRegression(subjects[i], before.Of(i), of_old, now.Of(budgets.size() + i), exposure, options.regression));
    }
  }
  Output output(STDOUT_FILENO);
  output.Append(Rendered(report, options.format));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  if (written != ExitCode::kOk) return written;
  return report.Count(Outcome::kBroken) > 0 ? ExitCode::kCheckFailed : read;
}

// An empty division in a script says "nan"; with that every budget would be kept.
std::string NoCount(const std::string& text) {
  double count = 0;
  const bool is_number = CLI::detail::lexical_cast(text, count);
  return is_number && std::isfinite(count) && count > 0 ? "" : text + " is no number of operations";
}

}  // namespace

Verb DeclareCheck(CLI::App& heaprec) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = heaprec.add_subcommand("check", "Whether a recording keeps its budgets, for CI: exit code 1 if not");
  verb->add_option(
          "--budget", options->budgets,
          "SUBJECT<AMOUNT: total, class: site: method: package: thread: with a pattern; B kB MB GB, objects or "
          "%; /op, /s; may be repeated")
      ->type_name("BUDGET")
      ->allow_extra_args(false);
  verb->add_option("--baseline", options->baseline, "Compare with this recording: all, and what budgets are of")
      ->type_name("OLD");
  AddPercent(verb, "--max-regression", &options->regression, "So much more than the baseline is allowed: 3%");
  verb->add_option("--ops", options->operations, "How many operations were recorded, for /op")
      ->type_name("N")
      ->check(NoCount);
  verb->add_option("--baseline-ops", options->baseline_operations, "Of the baseline (default: as many)")
      ->type_name("N")
      ->check(NoCount);
  verb->add_option("--format", options->format, "text (default), markdown, junit or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "markdown", "junit", "json"}));
  options->survey.AddTo(verb);
  verb->footer(R"(A budget is broken only if the whole 95 % interval lies above it.

Examples:
  heaprec check rec.bin --budget 'total<2GB' --budget 'class:byte[]<10%'
  heaprec check rec.bin --ops 10000 --budget 'site:com.acme.*<5kB/op' --format junit > heaprec.xml
  heaprec check rec.bin --baseline old.bin --max-regression 3% --format markdown)");
  return {verb, [options](const auto&) { return Check(*options); }};
}

}  // namespace heaprec::tools
