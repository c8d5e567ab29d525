// heaprec attach, heaprec stop: start and end a recording in a JVM that is running.
#include "tools/control/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct AttachOptions {
  std::string jvm, library;
  AgentOptions agent;
  double timeout_seconds = 10;
  bool quiet = false, json = false;
};

ExitCode Fail(ExitCode code, const std::string& sentence) {
  Complain(ToUtf8(sentence));
  return code;
}

ExitCode Tell(const AttachOptions& options, pid_t pid, const Answer& answer) {
  const std::string sentence = ToUtf8(answer.sentence);
  if (answer.is_unwritten && !options.json)
    return Fail(ExitCode::kCannotWrite, fmt::format("PID {}: {}", pid, sentence));
  if (options.quiet) return ExitCode::kOk;
  Output output(STDOUT_FILENO);
  if (options.json) {
    output.Append(nlohmann::json({{"pid", pid}, {"answer", sentence}, {"unwritten", answer.is_unwritten}}).dump() +
                  "\n");
  } else {
    output.Append(fmt::format("PID {}: {}\n", pid, sentence));
  }
  output.Flush();
  return output.Report("standard output");
}

// `command` is made once it is known whether the JVM sees our files.
template <typename Command>
ExitCode Run(const AttachOptions& options, const std::string& asked_library, const Command& command) {
  auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  format::Result<std::string> text = command(java->process);
  if (!text.ok()) return Fail(ExitCode::kUsage, text.error().message);
  std::string ours = asked_library;
  if (java->process.agent.empty() && (java->process.same_files || ours.empty())) {
    auto found = FindAgent(asked_library);
    if (!found.ok()) return Fail(ExitCode::kCannotAttach, found.error().message);
    ours = *found;
  }
  auto agent = AgentFor(java->process, ours);
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  auto answer = Attach(*java, {*agent, *text, static_cast<int>(options.timeout_seconds * 1000)});
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  const ExitCode told = Tell(options, java->process.pid, *answer);
  return told == ExitCode::kOk && answer->is_unwritten ? ExitCode::kCannotWrite : told;
}

void AddCommon(Command& command, AttachOptions* options) {
  command
      .AddOption("JVM", options->jvm,
                 "PID, main class or jar of the JVM (a part of the name is enough if only one JVM matches)")
      .Required();
  command.AddOption("--timeout", options->timeout_seconds, "Seconds to wait for the JVM (default: 10)")
      .Value("SECONDS")
      .InRange(0.1, 3600.0);
  command.AddFlag("--json", options->json, "Print the result as JSON");
  command.AddFlag("-q,--quiet", options->quiet, "Print errors only");
}

}  // namespace

Command AttachCommand() {
  auto options = std::make_shared<AttachOptions>();
  Command command("attach", "Start recording a running JVM");
  AddCommon(command, options.get());
  options->agent.AddTo(command);
  command.footer =
      R"(If the JVM runs in a container, FILE and --lib are paths inside the container
and must be absolute; copy libheaprec.so there first. JDK 21 and later print a
warning on the JVM's stderr unless it runs with -XX:+EnableDynamicAgentLoading.

Examples:
  heaprec attach 12345 --duration 60s -o app.hrec
  heaprec attach com.example.Main --rate 300
  heaprec attach app.jar --set source=jvmti)";
  command.run = [options](const auto&) {
    return Run(*options, options->agent.agent_file, [&](const Process& process) -> format::Result<std::string> {
      auto text = options->agent.Text(/*as_they_are=*/!process.same_files);
      if (!text.ok()) return text.error();
      return "start," + *text;
    });
  };
  return command;
}

Command StopCommand() {
  auto options = std::make_shared<AttachOptions>();
  Command command("stop", "Stop recording a JVM and complete the file");
  AddCommon(command, options.get());
  command.footer =
      R"(Waits until the file is complete. The agent then removes its hooks, and another
recording can be started. Exit code 6: part of the recording could not be
written.

Examples:
  heaprec stop 12345
  heaprec stop com.example.Main --timeout 30)";
  command.run = [options](const auto&) -> ExitCode {
    auto java = Find(options->jvm);
    if (java.ok() && java->process.agent.empty()) {
      return Fail(
          ExitCode::kCannotAttach,
          fmt::format("PID {}: the heaprec agent is not loaded; 'heaprec list' shows where it is", java->process.pid));
    }
    return Run(*options, "", [](const Process&) { return format::Result<std::string>(std::string("stop")); });
  };
  return command;
}

}  // namespace heaprec::tools
