// heaprec diff: what allocates more, or less, than before, and what is noise or varies between runs anyway.
#include <cmath>
#include <memory>

#include "tools/commands/diff_options.h"
#include "tools/commands/page_output.h"
#include "tools/options/command.h"
#include "tools/report/compare/reports.h"
#include "tools/rewrite/joined_parts.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

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
  const bool is_limited = options.output.limit || !options.output.is_for_people();
  const render::Report report = DiffReport(diff->result(), before, after,
                                           {options.all, is_limited, options.output.limit.value_or(0)}, diff->tree());
  if (!options.html.empty()) {
    const ExitCode written = PageOutput{options.html, options.force, /*quiet=*/true}.Write(DiffPage(*diff, report));
    if (written != ExitCode::kOk && written != ExitCode::kDamaged) return written;
  }
  return render::Print(report, options.output, read);
}

Command DiffCommand() {
  auto options = std::make_shared<DiffCommandOptions>();
  Command command("diff", "Show what changed significantly between recordings");
  command.joins_parts = false;
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
  options->output.AddLimitTo(command, "Maximum rows; 0 = all (default: 20, or 10 per table; --json: all)");
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
    if (!call.rest.empty()) {
      options->question.scan.files = JoinParts(options->question.scan.files);
      options->question.after = JoinParts(call.rest);
    }
    return Diff(*options);
  };
  return command;
}

}  // namespace heaprec::tools
