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
#include "tools/control/recorded_runs.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRunsBeforeLooking = 3;
constexpr double kSharesThatCount = 0.01;
constexpr char kUsualRate[] = "1000";

struct BenchOptions {
  AgentOptions agent;
  DiffCommandOptions diff;
  size_t runs = 5;
  std::string duration, grace = "10s", folder, baseline;
  double resolution = 0.05;
  bool all_runs = false;
  std::vector<std::string> words;  // COMMAND_A -- COMMAND_B
};

struct Bench {
  BenchOptions options;
  RecordedRuns runs;
  std::vector<std::string> baseline;  // recordings of side A, if it is not run

  const std::vector<std::string>& before() const { return baseline.empty() ? runs.sides.front().recordings : baseline; }
  const std::vector<std::string>& after() const { return runs.sides.back().recordings; }
  bool compares() const { return runs.sides.size() == 2 || !baseline.empty(); }
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

format::Result<std::vector<RunSide>> SidesOf(const BenchOptions& options) {
  std::vector<RunSide> sides{{'a', {}}};
  for (const std::string& word : options.words) {
    if (word == "--") {
      sides.push_back({static_cast<char>('a' + sides.size()), {}});
    } else {
      sides.back().command.push_back(word);
    }
  }
  const bool has_empty = std::ranges::any_of(sides, [](const RunSide& side) { return side.command.empty(); });
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
  Bench bench{.options = options, .runs = {}, .baseline = {}};
  RecordedRuns& runs = bench.runs;
  auto sides = SidesOf(options);
  if (!sides.ok()) return sides.error();
  runs.sides = std::move(*sides);
  if (!options.duration.empty()) {
    runs.duration = ParseSeconds(options.duration);
    if (!runs.duration)
      return format::Error{fmt::format("--duration {}: expected a time such as 60s or 5m", options.duration)};
  }
  const auto grace = ParseSeconds(options.grace);
  if (!grace) return format::Error{fmt::format("--grace {}: expected a time such as 10s", options.grace)};
  runs.grace = *grace;
  if (!options.baseline.empty()) {
    auto found = RecordingsIn(options.baseline);
    if (!found.ok()) return found.error();
    bench.baseline = std::move(*found);
  }
  auto library = FindAgent(options.agent.agent_file);
  if (!library.ok()) return library.error();
  runs.agent_file = *library;
  runs.agent = options.agent;
  if (runs.agent.rate.empty()) runs.agent.rate = kUsualRate;
  runs.runs = options.runs;
  runs.folder = options.folder.empty() ? UsualFolder() : options.folder;
  std::error_code error;
  std::filesystem::create_directories(runs.folder, error);
  if (error) return format::Error{fmt::format("{}: {}", runs.folder.string(), error.message())};
  if (std::filesystem::exists(runs.folder / fmt::format("{}-1.hrec", runs.sides.front().name), error)) {
    return format::Error{
        fmt::format("{}: holds the recordings of another bench; name another folder with -o", runs.folder.string())};
  }
  return bench;
}

// A site is decided if it differs, or certainly not by more than the resolution.
bool IsDecided(const Difference& row, double resolution) {
  return row.verdict != Verdict::kSame || (row.ratio.low >= 1 - resolution && row.ratio.high <= 1 + resolution);
}

// Looking several times finds more by chance: each look has its part of the rate.
double RateOfLook(const Bench& bench) {
  const size_t looks = bench.options.runs >= kRunsBeforeLooking ? bench.options.runs - kRunsBeforeLooking + 1 : 1;
  return bench.options.diff.question.fdr / static_cast<double>(bench.options.all_runs ? 1 : looks);
}

// A run that is ended after a time has not done all of its command's work.
DiffOptions QuestionOf(const Bench& bench) {
  DiffOptions question = bench.options.diff.question;
  question.scan.files = bench.before();
  question.after = bench.after();
  question.fdr = RateOfLook(bench);
  question.whole_runs = !bench.runs.duration;
  return question;
}

// Whether each site with more than a hundredth of all bytes is decided.
bool IsAllDecided(const Bench& bench) {
  DiffOptions question = QuestionOf(bench);
  question.by = "site";
  auto diff = DiffScan::Parse(question);
  if (!diff.ok() || diff->Run() != ExitCode::kOk) return false;
  const std::vector<ComparedRow>& rows = diff->result().tables.front().rows;
  double all = 0;
  for (const ComparedRow& row : rows) all += row.difference.before.value + row.difference.after.value;
  return std::ranges::all_of(rows, [&](const ComparedRow& row) {
    const bool counts = row.difference.before.value + row.difference.after.value > kSharesThatCount * all;
    return !counts || IsDecided(row.difference, bench.options.resolution);
  });
}

// After each round of runs.
bool IsEnough(const Bench& bench) {
  const size_t runs = bench.runs.sides.front().runs;
  const bool is_time = bench.compares() && !bench.options.all_runs && runs >= kRunsBeforeLooking;
  if (!is_time || !IsAllDecided(bench)) return false;
  PrintError(fmt::format("bench: every site above 1 % is decided after {} runs; --all-runs continues", runs));
  return true;
}

ExitCode RunBench(const BenchOptions& options) {
  auto bench = Prepare(options);
  if (!bench.ok()) return Fail(ExitCode::kUsage, bench.error().message);
  const ExitCode code = bench->runs.Run([&bench] { return IsEnough(*bench); });
  if (code != ExitCode::kOk) return code;
  PrintError(fmt::format("bench: recordings are in {}", bench->runs.folder.string()));
  if (!bench->compares()) {
    PrintError(fmt::format("bench: compare with heaprec bench --baseline {} -- COMMAND", bench->runs.folder.string()));
    return ExitCode::kOk;
  }
  DiffCommandOptions diff = bench->options.diff;
  diff.question = QuestionOf(*bench);
  return Diff(diff);
}

}  // namespace

Command BenchCommand() {
  auto options = std::make_shared<BenchOptions>();
  Command command("bench", "Run two commands alternately and compare them");
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
                     "A site is decided once it differs, or differs by at most this (default: 5%)");
  command.AddFlag("--all-runs", options->all_runs, "Do not stop early once every site above 1 % is decided");
  command.AddOption("--per", options->diff.question.per, "Unit of comparison, as in diff")
      .Value("UNIT")
      .OneOf({"second", "total", "share", "cpu-second"});
  command.AddPercent("--fdr", options->diff.question.fdr, "False discovery rate among reported changes (default: 5%)");
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
