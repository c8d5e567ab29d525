// heaprec stop: ends a recording in a JVM that is running.
#include <fmt/format.h>

#include <memory>

#include "tools/commands/jvm_options.h"
#include "tools/control/attach.h"
#include "tools/control/java_process.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

ExitCode Stop(const JvmOptions& options) {
  auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  const Process& process = java->process;
  if (process.agent.empty()) {
    return Fail(ExitCode::kCannotAttach,
                fmt::format("PID {}: the heaprec agent is not loaded; 'heaprec list' shows where it is", process.pid));
  }
  auto agent = AgentFor(process, "");
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  auto answer = Attach(*java, {*agent, "stop", options.timeout_ms()});
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  return options.Tell(process.pid, *answer);
}

}  // namespace

Command StopCommand() {
  auto options = std::make_shared<JvmOptions>();
  Command command("stop", "Stop recording a JVM and complete the file");
  options->AddTo(command);
  command.footer =
      R"(Waits until the file is complete. The agent then removes its hooks, and another
recording can be started. Exit code 6: part of the recording could not be
written.

Examples:
  heaprec stop 12345
  heaprec stop com.example.Main --timeout 30s)";
  command.run = [options](const auto&) { return Stop(*options); };
  return command;
}

}  // namespace heaprec::tools
