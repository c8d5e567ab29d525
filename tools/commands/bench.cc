// heaprec bench: runs two commands in turns, records them, and compares.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>

#include "tools/commands/diff_options.h"
#include "tools/control/agent_options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/options/command.h"
#include "tools/query/comparison.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRunsBeforeLooking = 3;
constexpr double kSharesThatCount = 0.01;
constexpr char kUsualRate[] = "1000";

struct BenchOptions {
  AgentOptions agent;
  DiffOptions diff;
  size_t runs = 5;
  std::string duration, grace = "10s", folder, baseline;
  double resolution = 0.05;
  bool all_runs = false;
  std::vector<std::string> words;  // COMMAND_A -- COMMAND_B
};

struct BenchSide {
  char name;  // 'a' or 'b'
  std::vector<std::string> command;
  std::vector<std::string> recordings{};
  double seconds = 0;  // of its runs so far
  size_t runs = 0;
};

struct Bench {
  BenchOptions options;
  std::optional<std::chrono::seconds> duration;
  std::chrono::seconds grace{10};
  std::filesystem::path folder;
  std::string agent;                  // the library
  std::vector<BenchSide> sides;       // that are run
  std::vector<std::string> baseline;  // recordings of side A, if it is not run

  const std::vector<std::string>& before() const { return baseline.empty() ? sides.front().recordings : baseline; }
  const std::vector<std::string>& after() const { return sides.back().recordings; }
  bool compares() const { return sides.size() == 2 || !baseline.empty(); }
};

// "90", "90s", "5m".
std::optional<std::chrono::seconds> ParseSeconds(const std::string& text) {
  size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::string unit = text.substr(end);
  const double factor = unit == "m" ? 60 : unit == "h" ? 3600 : 1;
  if (!(number > 0 && number * factor < 1e7) || (unit != "" && unit != "s" && unit != "m" && unit != "h"))
    return std::nullopt;
  return std::chrono::seconds(static_cast<int64_t>(std::ceil(number * factor)));
}

std::string UsualFolder() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof text, "heaprec-bench-%Y%m%d-%H%M%S", &local);
  return text;
}

format::Result<std::vector<BenchSide>> SidesOf(const BenchOptions& options) {
  std::vector<BenchSide> sides{{'a', {}}};
  for (const std::string& word : options.words) {
    if (word == "--") {
      sides.push_back({static_cast<char>('a' + sides.size()), {}});
    } else {
      sides.back().command.push_back(word);
    }
  }
  const bool has_empty = std::ranges::any_of(sides, [](const BenchSide& side) { return side.command.empty(); });
  if (has_empty || sides.size() > 2) {
    return format::Error{
        "bench: expected COMMAND_A -- COMMAND_B: heaprec bench -n 5 -- java -jar old.jar -- java -jar new.jar"};
  }
  if (options.baseline.empty()) return sides;
  if (sides.size() == 2) return format::Error{"bench: --baseline takes the place of COMMAND_A; give one command"};
  sides.front().name = 'b';
  return sides;
}

format::Result<std::vector<std::string>> RecordingsIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("a-") && name.ends_with(".hrec")) found.push_back(entry.path());
  }
  if (error) return format::Error{fmt::format("--baseline {}: {}", folder, error.message())};
  if (found.empty()) {
    return format::Error{fmt::format(
        "--baseline {}: it holds no a-*.hrec; make one with heaprec bench -o {} -- COMMAND", folder, folder)};
  }
  std::ranges::sort(found);
  return found;
}

format::Result<Bench> Prepare(const BenchOptions& options) {
  Bench bench{.options = options, .duration = {}, .folder = {}, .agent = {}, .sides = {}, .baseline = {}};
  auto sides = SidesOf(options);
  if (!sides.ok()) return sides.error();
  bench.sides = std::move(*sides);
  if (!options.duration.empty()) {
    bench.duration = ParseSeconds(options.duration);
    if (!bench.duration)
      return format::Error{fmt::format("--duration {}: expected a time such as 60s or 5m", options.duration)};
  }
  const auto grace = ParseSeconds(options.grace);
  if (!grace) return format::Error{fmt::format("--grace {}: expected a time such as 10s", options.grace)};
  bench.grace = *grace;
  if (!options.baseline.empty()) {
    auto found = RecordingsIn(options.baseline);
    if (!found.ok()) return found.error();
    bench.baseline = std::move(*found);
  }
  auto library = FindAgent(options.agent.agent_file);
  if (!library.ok()) return library.error();
  bench.agent = *library;
  if (bench.options.agent.rate.empty()) bench.options.agent.rate = kUsualRate;
  bench.folder = options.folder.empty() ? UsualFolder() : options.folder;
  std::error_code error;
  std::filesystem::create_directories(bench.folder, error);
  if (error) return format::Error{fmt::format("{}: {}", bench.folder.string(), error.message())};
  if (std::filesystem::exists(bench.folder / fmt::format("{}-1.hrec", bench.sides.front().name), error)) {
    return format::Error{
        fmt::format("{}: holds the recordings of another bench; name another folder with -o", bench.folder.string())};
  }
  return bench;
}

// How long what is left takes, by what has been run; "": nothing has been.
std::string TimeLeft(const Bench& bench) {
  double seconds = 0;
  for (const BenchSide& side : bench.sides) {
    if (side.runs == 0) return "";
    seconds += side.seconds / static_cast<double>(side.runs) * static_cast<double>(bench.options.runs - side.runs);
  }
  return seconds > 0 ? fmt::format("; about {} left", Duration(static_cast<uint64_t>(seconds * 1e9))) : "";
}

format::Result<TimedRun> RunOf(const Bench& bench, const BenchSide& side, const std::string& recording,
                               const std::string& log) {
  AgentOptions agent = bench.options.agent;
  agent.output = recording;
  const auto text = agent.Text(/*as_they_are=*/false);
  if (!text.ok()) return text.error();
  const std::string path = FindInPath(side.command.front());
  if (path.empty()) return format::Error{fmt::format("{}: not found", side.command.front())};
  auto command = WithAgent(side.command, path, fmt::format("-agentpath:{}={}", bench.agent, *text));
  if (!command.ok()) {
    return format::Error{
        fmt::format("{}: not java and not a JDK tool; bench starts the JVM itself", side.command.front())};
  }
  return TimedRun{.command = *command, .environment = {}, .log = log, .duration = bench.duration, .grace = bench.grace};
}

ExitCode RunOnce(Bench* bench, BenchSide* side) {
  const std::string name = fmt::format("{}-{}", side->name, side->runs + 1);
  const std::string recording = bench->folder / (name + ".hrec"), log = bench->folder / (name + ".log");
  const auto run = RunOf(*bench, *side, recording, log);
  if (!run.ok()) return Fail(ExitCode::kUsage, run.error().message);
  const TimedResult result = RunTimed(*run);
  if (!result.error.empty()) return Fail(ExitCode::kUsage, fmt::format("{}: {}", side->command.front(), result.error));
  if (result.is_interrupted)
    return Fail(ExitCode::kCheckFailed, fmt::format("interrupted; {} has what was recorded", bench->folder.string()));
  if (result.code != 0 && !result.was_ended) {
    return Fail(ExitCode::kCheckFailed,
                fmt::format("run {}: the command exited with {}; its output is in {}", name, result.code, log));
  }
  if (std::error_code error; !std::filesystem::exists(recording, error)) {
    return Fail(ExitCode::kUnreadable,
                fmt::format("run {}: nothing was recorded; the output of the command is in {}", name, log));
  }
  side->recordings.push_back(recording);
  side->seconds += result.seconds;
  ++side->runs;
  PrintError(fmt::format("bench: run {} of {} of {}: {}{}{}", side->runs, bench->options.runs,
                         static_cast<char>(std::toupper(side->name)),
                         Duration(static_cast<uint64_t>(result.seconds * 1e9)),
                         result.was_killed ? ", ended by SIGKILL after its grace period" : "", TimeLeft(*bench)));
  return ExitCode::kOk;
}

// A site is decided if it differs, or certainly not by more than the resolution.
bool IsDecided(const Difference& row, double resolution) {
  return row.verdict != Verdict::kSame || (row.ratio.low >= 1 - resolution && row.ratio.high <= 1 + resolution);
}

// Looking several times finds more by chance: each look has its part of the rate.
double RateOfLook(const Bench& bench) {
  const size_t looks = bench.options.runs >= kRunsBeforeLooking ? bench.options.runs - kRunsBeforeLooking + 1 : 1;
  return bench.options.diff.fdr / static_cast<double>(bench.options.all_runs ? 1 : looks);
}

// A run that is ended after a time has not done all of its command's work.
SidesAre WhatSidesAre(const Bench& bench) { return bench.duration ? SidesAre::kRecordings : SidesAre::kWholeRuns; }

// Whether each site with more than a hundredth of all bytes is decided.
bool IsAllDecided(const Bench& bench) {
  ScanOptions before = bench.options.diff.scan, after = before;
  before.files = bench.before(), after.files = bench.after();
  const std::vector<Grouping> by{Grouping(By::kSite)};
  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, RecordingScan::Parse(before)->TreeOptions());
  ComparedRuns old_runs(before, by, before.OwnFrames()), new_runs(after, by, after.OwnFrames());
  if (old_runs.Read(&tree) != ExitCode::kOk || new_runs.Read(&tree) != ExitCode::kOk) return false;
  const std::string& asked = bench.options.diff.per;
  const Scale scale{.per = asked.empty() ? ChooseUnit(old_runs, new_runs, {}, WhatSidesAre(bench)).per : PerOf(asked)};
  const ComparedRows rows = CompareTables(old_runs, new_runs, 0, scale, scale, {.fdr = RateOfLook(bench)});
  double all = 0;
  for (const ComparedRow& row : rows.rows) all += row.difference.before.value + row.difference.after.value;
  return std::ranges::all_of(rows.rows, [&](const ComparedRow& row) {
    const bool counts = row.difference.before.value + row.difference.after.value > kSharesThatCount * all;
    return !counts || IsDecided(row.difference, bench.options.resolution);
  });
}

bool IsTimeToLook(const Bench& bench) {
  const size_t runs = bench.sides.front().runs;
  return bench.compares() && !bench.options.all_runs && runs >= kRunsBeforeLooking && runs < bench.options.runs;
}

// A and B in turns, and who begins in turns, so that what changes slowly on the machine meets both.
ExitCode RunAll(Bench* bench) {
  while (bench->sides.front().runs < bench->options.runs) {
    const bool is_turned = bench->sides.front().runs % 2 == 1;
    for (size_t i = 0; i < bench->sides.size(); ++i) {
      const size_t which = is_turned ? bench->sides.size() - 1 - i : i;
      const ExitCode code = RunOnce(bench, &bench->sides[which]);
      if (code != ExitCode::kOk) return code;
    }
    if (!IsTimeToLook(*bench) || !IsAllDecided(*bench)) continue;
    PrintError(fmt::format("bench: every site above 1 % is decided after {} runs; --all-runs goes on",
                           bench->sides.front().runs));
    break;
  }
  return ExitCode::kOk;
}

ExitCode RunBench(const BenchOptions& options) {
  auto bench = Prepare(options);
  if (!bench.ok()) return Fail(ExitCode::kUsage, bench.error().message);
  const ExitCode code = RunAll(&*bench);
  if (code != ExitCode::kOk) return code;
  PrintError(fmt::format("bench: recordings are in {}", bench->folder.string()));
  if (!bench->compares()) {
    PrintError(fmt::format("bench: compare with heaprec bench --baseline {} -- COMMAND", bench->folder.string()));
    return ExitCode::kOk;
  }
  DiffOptions diff = bench->options.diff;
  diff.scan.files = bench->before();
  diff.after = bench->after();
  diff.fdr = RateOfLook(*bench);
  diff.whole_runs = WhatSidesAre(*bench) == SidesAre::kWholeRuns;
  return Diff(diff);
}

}  // namespace

Command BenchCommand() {
  auto options = std::make_shared<BenchOptions>();
  Command command("bench", "Run two commands in turns, record and compare them");
  command.AddOption("-n,--runs", options->runs, "Runs of each command (default: 5)").Value("N").Positive();
  command.AddOption("--duration", options->duration, "End each run after this time (default: when the command ends)")
      .Value("TIME");
  command.AddOption("--grace", options->grace, "Time between SIGTERM and SIGKILL (default: 10s)").Value("TIME");
  command.AddOption("-o,--output", options->folder, "Folder of the recordings (default: ./heaprec-bench-DATE-TIME)")
      .Value("DIR");
  command
      .AddOption("--baseline", options->baseline,
                 "Compare with the recordings a-*.hrec in this folder instead of COMMAND_A")
      .Value("DIR");
  command.AddOption("--rate", options->agent.rate, "Samples per second (default: 1000)").Value("RATE");
  command.AddPercent("--resolution", options->resolution,
                     "A site is decided if it differs, or by no more than this (default: 5%)");
  command.AddFlag("--all-runs", options->all_runs, "Do not stop early once every site above 1 % is decided");
  command.AddOption("--per", options->diff.per, "Unit of comparison, as in diff")
      .Value("UNIT")
      .OneOf({"second", "total", "share", "cpu-second"});
  command.AddPercent("--fdr", options->diff.fdr, "False discovery rate among reported changes (default: 5%)");
  command.AddOption("--limit", options->diff.limit, "Maximum rows per table; 0 = all (default: 10)").Value("N");
  options->diff.output.AddTo(command);
  command.AddOption("--lib", options->agent.agent_file, "The agent, libheaprec.so (default: next to heaprec)")
      .Value("FILE");
  command.operand = "COMMAND_A [-- COMMAND_B]";
  command.takes_command = true;
  command.footer = R"(Runs alternate, so that a machine that becomes slower or busier affects both
sides. After three runs of each, bench stops as soon as every site with more
than 1 % of all bytes is decided; each such look has its part of --fdr. A run
that fails ends the bench with exit code 1.

Examples:
  heaprec bench -n 5 -- java -jar old.jar -- java -jar new.jar
  heaprec bench -n 3 --duration 60s -o base -- java -jar server.jar
  heaprec bench -n 3 --duration 60s --baseline base -- java -jar new-server.jar)";
  command.run = [options](const Invocation& call) {
    options->words = call.rest;
    return RunBench(*options);
  };
  return command;
}

}  // namespace heaprec::tools
