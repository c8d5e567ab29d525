// heaprec diff: what allocates more, or less, than before, and what is noise or varies between runs anyway.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tools/commands/diff_options.h"
#include "tools/commands/pages.h"
#include "tools/options/command.h"
#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/report/compare/diff_report.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// As good as infinitely many, which JSON does not have.
constexpr double kManyDegrees = 1e6;

// What the amounts of each run are divided by.
std::vector<double> DivisorsOf(const std::vector<Scale>& scales) {
  std::vector<double> divisors;
  for (const Scale& scale : scales) {
    const double divisor = scale.per == Per::kSecond      ? scale.seconds
                           : scale.per == Per::kCpuSecond ? scale.cpu_seconds
                           : scale.per == Per::kOp        ? scale.operations
                                                          : 1;
    divisors.push_back(divisor > 0 ? divisor : 1);
  }
  return divisors;
}

PageComparison ComparisonOf(const DiffScan& diff) {
  const DiffResult& result = diff.result();
  PageComparison comparison;
  comparison.headline = render::FormatLine(TotalLine(result, diff.before().scan(0)), true);
  for (const auto& [side, verdict] :
       {std::pair("A", diff.before().TrustVerdict()), std::pair("B", diff.after().TrustVerdict())}) {
    if (!verdict.empty()) comparison.warnings.push_back(fmt::format("{} trustworthy: {}", side, verdict));
  }
  comparison.suffix = result.scale.Suffix();
  comparison.shares = result.scale.per == Per::kShare;
  comparison.objects = result.scale.objects;
  comparison.before = DivisorsOf(diff.ScalesBefore());
  comparison.after = DivisorsOf(diff.ScalesAfter());
  comparison.fdr = result.question.fdr;
  comparison.margin = result.question.margin;
  const RunVariation& variation = result.tables.back().runs.variation;
  comparison.deviation = variation.deviation;
  comparison.freedom = std::min(variation.degrees_of_freedom, kManyDegrees);
  return comparison;
}

ExitCode WriteView(const DiffCommandOptions& options, const DiffScan& diff, const render::Report& report) {
  PageRequest request;
  request.scan = diff.scan_before();
  // Folding is for tables by method: a page shows stacks as they are.
  request.scan.fold = false;
  if (options.question.windows.empty()) {
    request.other = diff.scan_after();
    request.other->fold = false;
  } else {
    request.other_times.emplace();
    request.other_times->from = diff.scan_after().filter.from;
    request.other_times->to = diff.scan_after().filter.to;
  }
  request.output = options.html;
  request.force = options.force;
  request.quiet = true;
  request.view = "compare";
  request.tab = "difference";
  request.report = render::HtmlBody(report, /*wide=*/false);
  request.said = true;
  request.icicle = false;
  request.comparison = ComparisonOf(diff);
  const ExitCode code = WritePage(request);
  return code == ExitCode::kDamaged ? ExitCode::kOk : code;
}

std::string WindowText(const DiffOptions& options, size_t which) {
  return options.windows.empty() ? "" : ", " + options.windows[which];
}

}  // namespace

ExitCode Diff(const DiffCommandOptions& options) {
  if (options.html == "-")
    return Fail(ExitCode::kUsage, "--html -: standard output is used for the table; name a file");
  auto diff = DiffScan::Parse(options.question);
  if (!diff.ok()) return Fail(ExitCode::kUsage, diff.error().message);
  const ExitCode read = diff->Run();
  if (read == ExitCode::kUnreadable) return read;
  if (diff->result().reversed) PrintError("B was recorded before A; swap them if this is not intended");
  const DiffSide before{diff->before(), WindowText(options.question, 0)},
      after{diff->after(), WindowText(options.question, 1)};
  const bool is_limited = options.limit || !options.output.is_for_people();
  const render::Report report =
      DiffReport(diff->result(), before, after, {options.all, is_limited, options.limit.value_or(0)}, diff->tree());
  if (!options.html.empty()) {
    const ExitCode page = WriteView(options, *diff, report);
    if (page != ExitCode::kOk) return page;
  }
  return render::Print(report, options.output, read);
}

Command DiffCommand() {
  auto options = std::make_shared<DiffCommandOptions>();
  Command command("diff", "Show what changed significantly between recordings");
  command
      .AddOption("--window", options->question.windows, "Compare two time ranges of one recording: 10s..20s 40s..60s")
      .Value("FROM..TO")
      .Exactly(2);
  command
      .AddOption("--by", options->question.by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--per", options->question.per,
                 "Compare totals, shares of all bytes, or rates: per second, cpu-second or op (default: total for the "
                 "same work, else share; op with --ops)")
      .Value("UNIT")
      .OneOf(PerWords());
  command
      .AddOption("--ops", options->question.operations,
                 "Operations of a run on each side: A=1000,B=1200, or 1000 for both")
      .Value("A=N,B=M");
  command.AddPercent("--fdr", options->question.fdr, "False discovery rate among reported changes (default: 5%)");
  command.AddPercent("--min-change", options->question.margin, "Ignore changes below this percentage (default: 0%)",
                     INFINITY);
  command.AddFlag("--objects", options->question.objects, "Compare objects instead of bytes");
  command.AddFlag("--all", options->all, "Also show changes that are not significant");
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20, or 10 per table; --json: all)")
      .Value("N");
  options->output.AddTo(command);
  command.AddOption("--html", options->html, "Also write the report page with both sides compared").Value("OUT");
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->question.scan.AddTo(command);
  command.operand = "REC...";
  command.footer = R"(Several runs of each side show how much a program varies between runs; the
recordings after "--" are the other side. Three runs of each side find far
smaller changes than one.

Examples:
  heaprec diff monday.hrec tuesday.hrec
  heaprec diff old-1.hrec old-2.hrec old-3.hrec -- new-1.hrec new-2.hrec new-3.hrec
  heaprec diff --ops A=10000,B=12000 --by site before.hrec after.hrec
  heaprec diff --window 10s..20s 40s..60s app.hrec
  heaprec diff --min-change 5% --html diff.html before.hrec after.hrec
  heaprec diff --json --all before.hrec after.hrec | jq '.tables[0].rows[] | select(.verdict == "new")')";
  command.run = [options](const Invocation& call) {
    options->question.after = call.rest;
    return Diff(*options);
  };
  return command;
}

}  // namespace heaprec::tools
