// heaprec check: whether a recording keeps its budgets, for CI.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/options/command.h"
#include "tools/query/budget.h"
#include "tools/query/budget_query.h"
#include "tools/query/comparison.h"
#include "tools/query/scan.h"
#include "tools/report/budget_check.h"
#include "tools/report/check_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct CheckOptions {
  ScanOptions scan;
  std::vector<std::string> budgets;
  std::vector<std::string> baselines;
  std::string per, by = "site", format = "text";
  std::optional<double> operations, baseline_operations;
  double regression = -1;  // not given
  double fdr = 0.05;
  bool accepts_untrustworthy = false;
};

constexpr char kNone[] = "none";

std::optional<format::Error> WhatIsWrong(const CheckOptions& options, const std::vector<Budget>& budgets) {
  if (budgets.empty() && options.baselines.empty()) {
    return format::Error{"nothing to check: give --budget 'total<2GiB', or --baseline old.hrec --max-regression 3%"};
  }
  if (options.baselines.empty() != (options.regression < 0)) {
    return format::Error{"--baseline and --max-regression need each other: --baseline old.hrec --max-regression 3%"};
  }
  const bool per_op =
      std::any_of(budgets.begin(), budgets.end(), [](const Budget& budget) { return budget.per == Budget::Per::kOp; });
  if (per_op && !options.operations) return format::Error{"a budget per op needs --ops N, the number of operations"};
  if ((options.per == "op") && !options.operations) return format::Error{"--per op needs --ops N"};
  if (!options.per.empty() && options.baselines.empty()) return format::Error{"--per needs --baseline"};
  if (options.baseline_operations && !options.operations) return format::Error{"--baseline-ops needs --ops"};
  return {};
}

// Exceptions are counted, not weighed.
std::optional<format::Error> CountEvents(std::vector<Budget>* budgets) {
  for (Budget& budget : *budgets) {
    if (budget.unit != Budget::Unit::kBytes) continue;
    if (budget.has_unit) {
      return format::Error{
          fmt::format("--budget '{}': --kind exception counts throws, so the amount is a number: 'class:java.io.*<100'",
                      budget.text)};
    }
    budget.unit = Budget::Unit::kObjects;
  }
  return {};
}

// Of each subject once, and of all. Shares are compared as bytes: of a share of all there is a budget already.
std::vector<Budget> Subjects(const std::vector<Budget>& budgets) {
  std::vector<Budget> subjects(1);
  subjects[0].subject_text = "total";
  for (Budget budget : budgets) {
    if (budget.unit == Budget::Unit::kShare) budget.unit = Budget::Unit::kBytes;
    const bool known = std::any_of(subjects.begin(), subjects.end(), [&](const Budget& one) {
      return one.subject_text == budget.subject_text && one.unit == budget.unit;
    });
    if (!known) subjects.push_back(std::move(budget));
  }
  return subjects;
}

ExitCode Usage(const format::Error& error) { return Fail(ExitCode::kUsage, error.message); }

std::string Rendered(const CheckReport& report, const std::string& format) {
  if (format == "markdown") return AsMarkdown(report);
  if (format == "junit") return AsJunit(report);
  if (format == "json") return AsJson(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (format == "sarif") return AsSarif(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return AsText(report);
}

ExitCode Write(const CheckReport& report, const std::string& format) {
  Output output(STDOUT_FILENO);
  output.Append(Rendered(report, format));
  output.Flush();
  return output.Report("standard output");
}

bool IsRead(ExitCode code) { return code == ExitCode::kOk || code == ExitCode::kDamaged; }

// A check, put together from its options.
struct Task {
  CheckOptions options;
  std::vector<Budget> budgets, subjects, asked;  // asked: both
  std::vector<Grouping> rows;                    // none, or what a baseline is compared by
  Counted counted = Counted::kBytes;

  bool has_baseline() const { return !options.baselines.empty(); }
};

format::Result<Task> TaskOf(const CheckOptions& options) {
  Task task{.options = options, .budgets = {}, .subjects = {}, .asked = {}, .rows = {}};
  for (const std::string& text : options.budgets) {
    auto budget = Budget::Parse(text);
    if (!budget.ok()) return budget.error();
    task.budgets.push_back(std::move(*budget));
  }
  if (const auto wrong = WhatIsWrong(options, task.budgets)) return *wrong;
  const auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return scan.error();
  if (scan->of_exceptions()) {
    task.counted = Counted::kEvents;
    if (const auto wrong = CountEvents(&task.budgets)) return *wrong;
  }
  if (task.has_baseline()) task.subjects = Subjects(task.budgets);
  task.asked = task.budgets;
  task.asked.insert(task.asked.end(), task.subjects.begin(), task.subjects.end());
  if (!task.has_baseline() || options.by == kNone) return task;
  auto by = Grouping::Parse(options.by);
  if (!by.ok()) return by.error();
  task.options.scan.fold = by->by() == By::kMethod;
  task.rows.push_back(std::move(*by));
  return task;
}

// The same files, names and filters hold for both sides.
BudgetTotals SpendingOf(const Task& task, const std::vector<std::string>& files, const std::vector<Budget>& budgets) {
  ScanOptions scan = task.options.scan;
  scan.files = files;
  return {*RecordingScan::Parse(scan), &budgets, task.rows, scan.OwnFrames()};
}

// Each recording of a side, as a run of its own.
class Runs {
 public:
  Runs(const Task& task, const std::vector<std::string>& files) {
    for (const std::string& file : files) runs_.push_back(SpendingOf(task, {file}, task.subjects));
  }

  ExitCode Read(CallTree* tree) {
    ExitCode code = ExitCode::kOk;
    for (BudgetTotals& run : runs_) {
      const ExitCode one = run.Read(tree);
      if (!IsRead(one)) return one;
      if (one != ExitCode::kOk) code = one;
    }
    return code;
  }

  size_t size() const { return runs_.size(); }
  bool HasCpuTime() const {
    return std::ranges::all_of(runs_, [](const BudgetTotals& run) { return run.cpu_seconds() > 0; });
  }
  bool is_imported() const {
    return std::ranges::any_of(runs_, [](const BudgetTotals& run) { return run.is_imported(); });
  }
  std::string TrustVerdict() const {
    for (const BudgetTotals& run : runs_) {
      if (std::string doubt = run.TrustVerdict(); !doubt.empty()) return doubt;
    }
    return "";
  }
  Work work() const {
    Work work;
    for (const BudgetTotals& run : runs_) {
      work.totals.push_back(run.All().bytes);
      if (run.has_rows()) work.tables.push_back(&run.rows().table(0));
    }
    return work;
  }
  SideOfBaseline SideOf(double operations) const {
    SideOfBaseline side;
    for (const BudgetTotals& run : runs_) {
      side.runs.push_back(
          {.estimates = {}, .table = nullptr, .normalization = {run.seconds(), operations, run.cpu_seconds()}});
      for (size_t subject = 0; subject < run.budgets(); ++subject)
        side.runs.back().estimates.push_back(run.Of(subject));
      if (!run.has_rows()) continue;
      side.runs.back().table = &run.rows().table(0);
      side.runs.back().progress = run.rows().progress(0);
      side.runs.back().parts = run.rows().parts(0);
    }
    return side;
  }

 private:
  std::vector<BudgetTotals> runs_;
};

// By what a baseline is compared if the user does not say: as diff does.
Per UnitOf(const CheckOptions& options, const Runs& before, const Runs& now) {
  if (!options.per.empty()) return PerOf(options.per);
  if (options.operations) return Per::kOp;
  return SameWork(before.work(), now.work(), false).empty() ? Per::kShare : Per::kTotal;
}

void CompareWithBaseline(const Task& task, const Runs& before, const Runs& now, const CallTree& tree,
                         CheckReport* report) {
  const double operations = task.options.operations.value_or(0);
  Baseline baseline{.before = before.SideOf(task.options.baseline_operations.value_or(operations)),
                    .now = now.SideOf(operations),
                    .per = UnitOf(task.options, before, now),
                    .most = task.options.regression,
                    .fdr = task.options.fdr,
                    .counted = task.counted};
  for (size_t i = 0; i < task.subjects.size(); ++i) {
    report->checks.push_back(CheckRegression(baseline, task.subjects[i], i));
  }
  report->runs_now = now.size(), report->runs_of_baseline = before.size();
  if (task.rows.empty()) return;
  report->rows = CheckRows(baseline, task.rows.front(), tree);
}

// What the numbers say is still shown, but decides nothing.
void Withhold(CheckReport* report) {
  for (CheckResult& check : report->checks) check.outcome = CheckOutcome::kInconclusive;
  if (report->rows) report->rows->broken.clear();
}

ExitCode Check(const CheckOptions& options) {
  const auto task = TaskOf(options);
  if (!task.ok()) return Usage(task.error());
  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, RecordingScan::Parse(task->options.scan)->TreeOptions());
  BudgetTotals now = SpendingOf(*task, options.scan.files, task->asked);
  const ExitCode read = now.Read(&tree);
  if (!IsRead(read)) return read;
  CheckReport report{.recording = ToUtf8(options.scan.files.front()),
                     .checks = {},
                     .seconds = now.seconds(),
                     .rows = {},
                     .doubt = now.TrustVerdict(),
                     .doubt_of_baseline = {},
                     .is_imported = now.is_imported(),
                     .accepts_untrustworthy = options.accepts_untrustworthy};
  const Normalization normalization{now.seconds(), options.operations.value_or(0)};
  for (size_t i = 0; i < task->budgets.size(); ++i) {
    report.checks.push_back(CheckBudget(task->budgets[i], now.Of(i), normalization, task->counted));
  }
  if (task->has_baseline()) {
    Runs before(*task, options.baselines), runs(*task, options.scan.files);
    for (Runs* side : {&before, &runs}) {
      const ExitCode code = side->Read(&tree);
      if (!IsRead(code)) return code;
    }
    CompareWithBaseline(*task, before, runs, tree, &report);
    report.doubt_of_baseline = before.TrustVerdict();
    report.is_imported |= before.is_imported();
  }
  if (report.IsWithheld()) Withhold(&report);
  const ExitCode written = Write(report, options.format);
  if (written != ExitCode::kOk) return written;
  return report.Fails() ? ExitCode::kCheckFailed : read;
}

// An empty division in a script says "nan"; with that every budget would be kept.
std::string NoCount(const std::string& text) {
  char* end = nullptr;
  const double count = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && std::isfinite(count) && count > 0 ? "" : text + " is not a number of operations above 0";
}

}  // namespace

Command CheckCommand() {
  auto options = std::make_shared<CheckOptions>();
  Command command("check", "Enforce allocation budgets in CI");
  command
      .AddOption(
          "--budget", options->budgets,
          "SUBJECT<AMOUNT (repeatable). SUBJECT: total, or class:, site:, method:, package: or thread: with a pattern. "
          "AMOUNT: a number with B, KiB, MiB, GiB, objects, events or %, optionally /op or /s")
      .Value("BUDGET");
  command
      .AddOption(
          "--baseline", options->baselines,
          "Compare the total, the subjects of budgets and every site with this recording; several (repeatable) are "
          "runs of the same program, as several REC are")
      .Value("OLD");
  command
      .AddOption(
          "--per", options->per,
          "Compare with the baseline by total, share, second, cpu-second or op (default: op with --ops, total for the "
          "same work, else share)")
      .Value("UNIT")
      .OneOf(PerWords());
  command.AddPercent("--max-regression", options->regression, "Maximum increase over the baseline, such as 3%",
                     INFINITY);
  std::vector<std::string> rows = Grouping::Words();
  rows.emplace_back(kNone);
  command.AddOption("--by", options->by, "Compare groups by this key with the baseline (default: site)")
      .Value("KEY")
      .OneOf(rows);
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported regressions (default: 5%)");
  command.AddOption("--ops", options->operations, "Number of recorded operations, for /op").Value("N").Check(NoCount);
  command
      .AddOption("--baseline-ops", options->baseline_operations,
                 "Number of operations in the baseline (default: the same as --ops)")
      .Value("N")
      .Check(NoCount);
  command.AddFlag("--accept-untrustworthy", options->accepts_untrustworthy,
                  "Check budgets even if a recording is not trustworthy (default: inconclusive, exit code 1)");
  command.AddOption("--format", options->format, "Output format: text (default), markdown, junit, sarif or json")
      .Value("FORMAT")
      .OneOf({"text", "markdown", "junit", "sarif", "json"});
  options->scan.AddTo(command);
  command.footer =
      R"(A budget is exceeded only if the whole 95 % interval is above it. Exit code 1: a
budget is exceeded, or a recording is not trustworthy. Several recordings of
each side show how much a program varies between runs.

Examples:
  heaprec check app.hrec --budget 'total<2GiB' --budget 'class:byte[]<10%'
  heaprec check app.hrec --ops 10000 --budget 'site:com.acme.*<5KiB/op' --format junit > heaprec.xml
  heaprec check app.hrec --baseline old.hrec --max-regression 3% --format markdown
  heaprec check new-*.hrec --baseline old-1.hrec --baseline old-2.hrec --max-regression 5%
  heaprec check app.hrec --baseline old.hrec --max-regression 10% --by class --fdr 1%)";
  command.run = [options](const auto&) { return Check(*options); };
  return command;
}

}  // namespace heaprec::tools
