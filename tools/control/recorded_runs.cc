#include "tools/control/recorded_runs.h"

#include <fmt/format.h>

#include <cctype>
#include <system_error>

#include "format/bytes/result.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// How long what is left takes, by what has been run; "": nothing has been.
std::string TimeLeft(const RecordedRuns& all) {
  double seconds = 0;
  for (const RunSide& side : all.sides) {
    if (side.runs == 0) return "";
    seconds += side.seconds / static_cast<double>(side.runs) * static_cast<double>(all.runs - side.runs);
  }
  return seconds > 0 ? fmt::format("; about {} left", Duration(static_cast<uint64_t>(seconds * 1e9))) : "";
}

format::Result<TimedRun> RunOf(const RecordedRuns& all, const RunSide& side, const std::string& recording,
                               const std::string& log) {
  AgentOptions agent = all.agent;
  agent.output = recording;
  const auto text = agent.Text(/*as_they_are=*/false);
  if (!text.ok()) return text.error();
  const std::string path = FindInPath(side.command.front());
  if (path.empty()) return format::Error{fmt::format("{}: not found", side.command.front())};
  auto command = WithAgent(side.command, path, fmt::format("-agentpath:{}={}", all.agent_file, *text));
  if (!command.ok()) {
    return format::Error{
        fmt::format("{}: not java and not a JDK tool; bench starts the JVM itself", side.command.front())};
  }
  return TimedRun{.command = *command, .environment = {}, .log = log, .duration = all.duration, .grace = all.grace};
}

ExitCode RunOnce(RecordedRuns* all, RunSide* side) {
  const std::string name = fmt::format("{}-{}", side->name, side->runs + 1);
  const std::string recording = all->folder / (name + ".hrec"), log = all->folder / (name + ".log");
  const auto run = RunOf(*all, *side, recording, log);
  if (!run.ok()) return Fail(ExitCode::kUsage, run.error().message);
  const TimedResult result = RunTimed(*run);
  if (!result.error.empty()) return Fail(ExitCode::kUsage, fmt::format("{}: {}", side->command.front(), result.error));
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

}  // namespace

// A and B in turns, and who begins in turns, so that what changes slowly on the machine meets both.
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
