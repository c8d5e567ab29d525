#include "tools/control/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <system_error>

#include "base/result.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr char kUsualRate[] = "1000";

// Returns how long the remaining runs take, from the previous ones; "": none has run.
std::string TimeLeft(const RecordedRuns& all) {
  double seconds = 0;
  for (const RunSide& side : all.sides) {
    if (side.runs == 0) return "";
    seconds += side.seconds / static_cast<double>(side.runs) * static_cast<double>(all.runs - side.runs);
  }
  return seconds > 0 ? fmt::format("; about {} left", Duration(static_cast<uint64_t>(seconds * 1e9))) : "";
}

Result<TimedRun> RunOf(const RecordedRuns& all, const RunSide& side, const std::string& recording,
                       const std::string& log) {
  AgentOptions agent = all.agent;
  agent.output = recording;
  ASSIGN_OR_RETURN(const auto argument, AgentArgument(all.agent_file, agent.Text(/*as_they_are=*/false)));
  const std::string path = FindInPath(side.command.front());
  if (path.empty()) return Error{fmt::format("{}: not found", side.command.front())};
  auto command = WithAgent(side.command, path, argument);
  if (!command.ok()) {
    return Error{fmt::format("{}: not java and not a JDK tool; bench starts the JVM itself", side.command.front())};
  }
  return TimedRun{.command = *command, .environment = {}, .log = log, .duration = all.duration, .grace = all.grace};
}

ExitCode RunOnce(RecordedRuns* all, RunSide* side) {
  const std::string name = fmt::format("{}-{}", side->name, side->runs + 1);
  const std::string recording = all->folder / (name + ".hrec"), log = all->folder / (name + ".log");
  const auto run = RunOf(*all, *side, recording, log);
  if (!run.ok()) return Fail(ExitCode::kUsage, run.error().message);
  const TimedResult result = RunTimed(*run);
  if (!result.error.empty()) return Fail(ExitCode::kUsage, result.error);
  if (result.is_interrupted)
    return Fail(ExitCode::kCheckFailed, fmt::format("interrupted; {} has what was recorded", all->folder.string()));
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
  PrintError(fmt::format("bench: run {} of {} of {}: {}{}{}", side->runs, all->runs,
                         static_cast<char>(std::toupper(side->name)),
                         Duration(static_cast<uint64_t>(result.seconds * 1e9)),
                         result.was_killed ? ", ended by SIGKILL after its grace period" : "", TimeLeft(*all)));
  return ExitCode::kOk;
}

std::string UsualFolder() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof text, "heaprec-bench-%Y%m%d-%H%M%S", &local);
  return text;
}

Result<std::vector<RunSide>> SidesOf(const RunOptions& options) {
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
    return Error{
        "bench: expected COMMAND_A -- COMMAND_B: heaprec bench -n 5 -- java -jar old.jar -- java -jar new.jar"};
  }
  if (options.baseline.empty()) return sides;
  if (sides.size() == 2) return Error{"bench: --baseline takes the place of COMMAND_A; give one command"};
  sides.front().name = 'b';
  return sides;
}

Result<std::vector<std::string>> RecordingsIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("a-") && name.ends_with(".hrec")) found.push_back(entry.path());
  }
  if (error) return Error{fmt::format("--baseline {}: {}", folder, error.message())};
  if (found.empty()) {
    return Error{fmt::format("--baseline {}: contains no a-*.hrec; create one with heaprec bench -o {} -- COMMAND",
                             folder, folder)};
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<RecordedRuns> RecordedRuns::Prepare(const RunOptions& options) {
  RecordedRuns runs;
  ASSIGN_OR_RETURN(runs.sides, SidesOf(options));
  if (options.duration_ns) runs.duration = std::chrono::nanoseconds(*options.duration_ns);
  runs.grace = std::chrono::nanoseconds(options.grace_ns);
  if (!options.baseline.empty()) {
    ASSIGN_OR_RETURN(runs.baseline, RecordingsIn(options.baseline));
  }
  ASSIGN_OR_RETURN(runs.agent_file, FindAgent(options.agent.agent_file));
  runs.agent = options.agent;
  if (runs.agent.rate.empty()) runs.agent.rate = kUsualRate;
  // Runs are compared by their allocations.
  runs.agent.precise = true;
  runs.agent.more.insert(runs.agent.more.begin(), "live=off");
  RETURN_IF_ERROR(CheckAgentOptions(runs.agent.Text(/*as_they_are=*/false)));
  runs.runs = options.runs;
  runs.folder = options.folder.empty() ? UsualFolder() : options.folder;
  std::error_code error;
  std::filesystem::create_directories(runs.folder, error);
  if (error) return Error{fmt::format("{}: {}", runs.folder.string(), error.message())};
  if (std::filesystem::exists(runs.folder / fmt::format("{}-1.hrec", runs.sides.front().name), error)) {
    return Error{fmt::format("{}: contains the recordings of another bench; choose another folder with -o",
                             runs.folder.string())};
  }
  return runs;
}

// A and B take turns, also at the beginning of rounds, so that slow changes of the machine affect both equally.
ExitCode RecordedRuns::Run(const std::function<bool()>& is_enough) {
  while (sides.front().runs < runs) {
    const bool is_turned = sides.front().runs % 2 == 1;
    for (size_t i = 0; i < sides.size(); ++i) {
      const ExitCode code = RunOnce(this, &sides[is_turned ? sides.size() - 1 - i : i]);
      if (code != ExitCode::kOk) return code;
    }
    if (sides.front().runs < runs && is_enough()) break;
  }
  return ExitCode::kOk;
}

}  // namespace heaprec::tools
