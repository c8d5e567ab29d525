// heaprec bench: runs two commands in turns, records them, and compares.
#include <fmt/format.h>

#include <memory>

#include "tools/commands/diff_options.h"
#include "tools/control/recorded_runs.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRunsBeforeLooking = 3;
constexpr uint64_t kLongest = 10'000'000'000'000'000;  // of a run: ten million seconds

struct BenchOptions {
  RunOptions run;
  DiffCommandOptions diff;
  double resolution = 0.05;
  bool all_runs = false;
};

// Looking several times finds more by chance: each look has its part of the rate.
double RateOfLook(const BenchOptions& options) {
  const size_t runs = options.run.runs, looks = runs >= kRunsBeforeLooking ? runs - kRunsBeforeLooking + 1 : 1;
  return options.diff.question.fdr / static_cast<double>(options.all_runs ? 1 : looks);
}

// A run that is ended after a time has not done all of its command's work.
DiffOptions QuestionOf(const BenchOptions& options, const RecordedRuns& runs) {
  DiffOptions question = options.diff.question;
  question.scan.files = runs.before();
  question.after = runs.after();
  question.fdr = RateOfLook(options);
  question.whole_runs = !runs.duration;
  return question;
}

// After each round of runs.
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
  command.AddPercent("--resolution", options->resolution,
                     "A site is decided once it differs, or differs by at most this (default: 5%)");
  command.AddFlag("--all-runs", options->all_runs, "Do not stop early once every site above 1 % is decided");
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
