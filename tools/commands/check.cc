// heaprec check: enforces allocation budgets in CI.
#include <cmath>
#include <memory>

#include "tools/export/check_formats.h"
#include "tools/options/command.h"
#include "tools/query/compare/budget_check.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct CheckCommandOptions {
  CheckOptions check;
  render::OutputOptions output;
};

ExitCode RunCheck(const CheckCommandOptions& options) {
  const auto question = CheckQuestion::Parse(options.check);
  if (!question.ok()) return Fail(ExitCode::kUsage, question.error().message);
  CheckAnswer answer;
  const ExitCode read = Check(*question, &answer);
  if (read != ExitCode::kOk && read != ExitCode::kDamaged) return read;
  const std::string& format = options.output.format;
  const ExitCode written = format == "junit"    ? WriteFile("-", false, AsJunit(answer))
                           : format == "sarif"  ? WriteFile("-", false, AsSarif(answer))
                           : format == "github" ? WriteFile("-", false, AsGitHub(answer))
                                                : render::Print(CheckReport(answer), options.output);
  if (written != ExitCode::kOk) return written;
  return answer.Fails() ? ExitCode::kCheckFailed : read;
}

// Rejects "nan", which a script prints after dividing by zero: every budget would be met.
std::string OperationCountError(const std::string& text) {
  char* end = nullptr;
  const double count = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && std::isfinite(count) && count > 0 ? "" : text + " is not a number of operations above 0";
}

}  // namespace

Command CheckCommand() {
  auto options = std::make_shared<CheckCommandOptions>();
  Command command("check", "Enforce allocation budgets in CI");
  command
      .AddOption("--budget", options->check.budgets,
                 "SUBJECT<AMOUNT (repeatable). SUBJECT: total, or class:, site:, method:, package: or thread: with a "
                 "pattern, or "
                 "rule: with a rule of summary's advice. "
                 "AMOUNT: a number with B, KiB, MiB, GiB, objects, events or %, optionally /op or /s")
      .Value("BUDGET");
  command
      .AddOption("--baseline", options->check.baselines,
                 "Compare the total, the subjects of budgets and every site with this recording; repeat it for several "
                 "runs of the same program")
      .Value("OLD");
  command
      .AddOption(
          "--per", options->check.per,
          "Compare with the baseline by total, share, second, cpu-second or op (default: op with --ops, total for the "
          "same work, else share)")
      .Value("UNIT")
      .OneOf(PerWords());
  command.AddPercent("--max-regression", options->check.regression, "Maximum increase over the baseline, such as 3%",
                     INFINITY);
  std::vector<std::string> rows = Grouping::Words();
  rows.emplace_back(kByNothing);
  command.AddOption("--by", options->check.by, "Compare groups by this key with the baseline (default: site)")
      .Value("KEY")
      .OneOf(rows);
  command.AddPercent("--fdr", options->check.fdr, "False discovery rate among reported regressions (default: 5%)");
  command.AddOption("--ops", options->check.operations, "Number of recorded operations, for /op")
      .Value("N")
      .Check(OperationCountError);
  command
      .AddOption("--baseline-ops", options->check.baseline_operations,
                 "Number of operations in the baseline (default: the same as --ops)")
      .Value("N")
      .Check(OperationCountError);
  command.AddFlag("--accept-untrustworthy", options->check.accepts_untrustworthy,
                  "Check budgets even if a recording is not trustworthy (default: inconclusive, exit code 1)");
  command.AddFlag("--strict", options->check.is_strict, "Also exit with 1 if a budget is inconclusive");
  options->output.AddTo(command, {"junit", "sarif", "github"});
  options->check.scan.AddTo(command);
  command.footer =
      R"(A budget is exceeded only if the whole 95 % interval is above it. Exit code 1: a
budget is exceeded, or a recording is not trustworthy. Several recordings of
each side show how much a program varies between runs.

Examples:
  heaprec check app.hrec --budget 'total<2GiB' --budget 'class:byte[]<10%'
  heaprec check app.hrec --ops 10000 --budget 'site:com.acme.*<5KiB/op' --format junit > heaprec.xml
  heaprec check app.hrec --budget 'rule:boxing<2%' --budget 'rule:*<10%'
  heaprec check app.hrec --baseline old.hrec --max-regression 3% --format markdown
  heaprec check new-*.hrec --baseline old-1.hrec --baseline old-2.hrec --max-regression 5%
  heaprec check app.hrec --baseline old.hrec --max-regression 10% --by class --fdr 1%)";
  command.run = [options](const auto&) { return RunCheck(*options); };
  return command;
}

}  // namespace heaprec::tools
