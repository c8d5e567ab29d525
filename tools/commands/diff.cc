// heaprec diff: shows what allocates significantly more or less than before.
// heaprec bench: runs two commands in turns, records them, and compares.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "tools/commands/page_output.h"
#include "tools/control/recorded_runs.h"
#include "tools/options/command.h"
#include "tools/query/compare/diff_query.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct DiffCommandOptions {
  DiffOptions question;
  std::string html;
  render::OutputOptions output;
  bool all = false, force = false;
};

std::string WindowText(const DiffOptions& options, size_t which) {
  return options.windows.empty() ? "" : ", " + options.windows[which];
}

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

constexpr size_t kRunsBeforeLooking = 3;
constexpr uint64_t kLongest = 10'000'000'000'000'000;  // of a run: ten million seconds

struct BenchOptions {
  RunOptions run;
  DiffCommandOptions diff;
  double resolution = 0.05;
  bool all_runs = false;
};

// Repeated tests find more by chance, so each test gets a part of the rate.
double RateOfLook(const BenchOptions& options) {
  const size_t runs = options.run.runs, looks = runs >= kRunsBeforeLooking ? runs - kRunsBeforeLooking + 1 : 1;
  return options.diff.question.fdr / static_cast<double>(options.all_runs ? 1 : looks);
}

// A run with a time limit may not have done all work of its command.
DiffOptions QuestionOf(const BenchOptions& options, const RecordedRuns& runs) {
  DiffOptions question = options.diff.question;
  question.scan.files = runs.before();
  question.after = runs.after();
  question.fdr = RateOfLook(options);
  question.whole_runs = !runs.duration;
  return question;
}

// Called after each round of runs.
bool IsEnough(const BenchOptions& options, const RecordedRuns& runs) {
  const size_t done = runs.sides.front().runs;
  const bool is_time = runs.compares() && !options.all_runs && done >= kRunsBeforeLooking;
  if (!is_time || !IsDecided(QuestionOf(options, runs), options.resolution)) return false;
  PrintError(fmt::format("bench: every site above 1 % is decided after {} runs; --all-runs continues", done));
  return true;
}

ExitCode RunBench(const BenchOptions& options) {
  auto runs = RecordedRuns::Prepare(options.run);
  if (!runs.ok()) return Fail(ExitCode::kUsage, runs.error().message);
  const ExitCode code = runs->Run([&] { return IsEnough(options, *runs); });
  if (code != ExitCode::kOk) return code;
  const std::string folder = runs->folder.string();
  PrintError(fmt::format("bench: recordings are in {}", folder));
  if (!runs->compares()) {
    PrintError(fmt::format("bench: compare with heaprec bench --baseline {} -- COMMAND", folder));
    return ExitCode::kOk;
  }
  DiffCommandOptions diff = options.diff;
  diff.question = QuestionOf(options, *runs);
  return Diff(diff);
}

}  // namespace

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
  command.AddFlag("-f,--force", options->force, "Overwrite the output file if it exists");
  options->question.scan.AddTo(
      command, "Two recordings, or several runs of each side with -- between the sides; with --window, one recording");
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

Command BenchCommand() {
  auto options = std::make_shared<BenchOptions>();
  Command command("bench", "Run two commands alternately and compare them");
  command.AddOption("-n,--runs", options->run.runs, "Runs of each command (default: 5)").Value("N").Positive();
  command.AddDuration("--duration", options->run.duration_ns,
                      "End each run after this time (default: when the command ends)", 1, kLongest);
  command.AddDuration("--grace", options->run.grace_ns, "Time between SIGTERM and SIGKILL (default: 10s)", 1, kLongest);
  command.AddOption("-o,--output", options->run.folder, "Folder of the recordings (default: ./heaprec-bench-DATE-TIME)")
      .Value("DIR");
  command
      .AddOption("--baseline", options->run.baseline,
                 "Compare with the recordings a-*.hrec in this folder instead of COMMAND_A")
      .Value("DIR");
  command.AddOption("--rate", options->run.agent.rate, "Samples per second (default: 1000)").Value("RATE");
  command.AddPercent(
      "--resolution", options->resolution,
      "A site is decided once its difference is significant, or is known to be at most this (default: 5%)");
  command.AddFlag("--all-runs", options->all_runs, "Make all runs, even if every site above 1 % is decided earlier");
  command.AddOption("--per", options->diff.question.per, "Unit of comparison, as in diff")
      .Value("UNIT")
      .OneOf({"second", "total", "share", "cpu-second"});
  command.AddPercent("--fdr", options->diff.question.fdr, "False discovery rate among reported changes (default: 5%)");
  options->diff.output.AddLimitTo(command, "Maximum rows per table; 0 = all (default: 10)");
  options->diff.output.AddTo(command);
  command.AddOption("--lib", options->run.agent.agent_file, "The agent, libheaprec.so (default: next to heaprec)")
      .Value("FILE");
  command.operand = "COMMAND_A [-- COMMAND_B]";
  command.takes_command = true;
  command.footer = R"(Runs alternate, so that a slower machine affects both sides. After three runs of
each, bench stops as soon as every site with more than 1 % of all bytes is
decided. A run that fails ends the bench with exit code 1.

Examples:
  heaprec bench -n 5 -- java -jar old.jar -- java -jar new.jar
  heaprec bench -n 3 --duration 60s -o base -- java -jar server.jar
  heaprec bench -n 3 --duration 60s --baseline base -- java -jar new-server.jar)";
  command.run = [options](const Invocation& call) {
    options->run.words = call.rest;
    return RunBench(*options);
  };
  return command;
}

}  // namespace heaprec::tools
