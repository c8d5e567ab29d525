// heaprec attach, heaprec stop: start and end a recording in a JVM that is running.
#include "tools/control/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

#include "tools/commands/pages.h"
#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/control/recording_output.h"
#include "tools/control/temporary_recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/time_point.h"
#include "tools/render/renderers.h"
#include "tools/text/countdown.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct AttachOptions {
  std::string jvm, library;
  AgentOptions agent;
  std::string report, flame;  // pages to write at the end
  double timeout_seconds = 10;
  bool is_inside = false, quiet = false, json = false, force = false;

  bool makes_page() const { return !report.empty() || !flame.empty(); }
};

int TimeoutMs(const AttachOptions& options) { return static_cast<int>(options.timeout_seconds * 1000); }

ExitCode Tell(const AttachOptions& options, pid_t pid, const AgentReply& answer) {
  const std::string sentence = ToUtf8(answer.sentence);
  if (answer.is_unwritten && !options.json)
    return Fail(ExitCode::kCannotWrite, fmt::format("PID {}: {}", pid, sentence));
  if (options.quiet) return answer.is_unwritten ? ExitCode::kCannotWrite : ExitCode::kOk;
  Output output(STDOUT_FILENO);
  if (options.json) {
    const render::Object said{{"pid", pid}, {"answer", sentence}, {"unwritten", answer.is_unwritten}};
    output.Append(render::JsonText(said) + "\n");
  } else {
    output.Append(fmt::format("PID {}: {}\n", pid, sentence));
  }
  output.Flush();
  const ExitCode told = output.Report("standard output");
  return told == ExitCode::kOk && answer.is_unwritten ? ExitCode::kCannotWrite : told;
}

volatile std::sig_atomic_t is_interrupted = 0;

void InterruptedBySignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// Until the recording is in its file; on a terminal with a line that says how long it goes on.
ExitCode AwaitEnd(const AttachOptions& options, const JavaProcess& java, RecordingOutput* place) {
  const auto duration = ParseTimePoint(options.agent.duration);
  const double seconds = duration.ok() && duration->since_start ? static_cast<double>(duration->ns) * 1e-9 : 0;
  const Countdown countdown(fmt::format("PID {}: recording", java.process.pid), "; Ctrl-C ends it", seconds,
                            !options.quiet && options.makes_page());
  return place->Bring(java, TimeoutMs(options), [&countdown] {
    countdown.Tell();
    return is_interrupted != 0;
  });
}

// Of options that cannot go together; empty: nothing.
std::string Objection(const AttachOptions& options) {
  if (!options.makes_page()) return options.force ? "--force is for --report and --flame" : "";
  if (options.is_inside) return "--inside leaves the recording in the container; --report and --flame need it here";
  if (options.agent.duration.empty()) return "--report and --flame need --duration, such as --duration 30s";
  if (options.report == options.flame) return "--report and --flame need two files";
  for (const std::string& page : {options.report, options.flame}) {
    std::error_code error;
    if (!options.force && std::filesystem::is_regular_file(page, error)) return page + ": exists; -f overwrites it";
  }
  return {};
}

// Beside the page, if nothing else was asked for: its commands name it.
std::string RecordingBeside(const AttachOptions& options) {
  if (options.agent.output != AgentOptions().output) return options.agent.output;
  const std::string& page = options.report.empty() ? options.flame : options.report;
  return page == "-" ? options.agent.output : std::filesystem::path(page).replace_extension(".hrec").string();
}

ExitCode WritePages(const AttachOptions& options, const JavaProcess& java, const std::string& recording) {
  PageRequest request;
  request.scan.files = {recording};
  request.output = options.report;
  request.title = fmt::format("{} (PID {})", ToUtf8(java.main), java.process.pid);
  request.force = options.force;
  request.quiet = options.quiet;
  ExitCode code = options.report.empty() ? ExitCode::kOk : WritePage(request);
  request.output = options.flame;
  if (options.flame.empty()) return code;
  const ExitCode flame = WriteFlamePage(request);
  return code == ExitCode::kOk ? flame : code;
}

ExitCode AttachTo(AttachOptions options) {
  if (const std::string objection = Objection(options); !objection.empty()) return Fail(ExitCode::kUsage, objection);
  if (options.makes_page()) options.agent.output = RecordingBeside(options);
  auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  auto place = RecordingOutput::Choose(java->process, options.agent, options.is_inside, options.makes_page());
  if (!place.ok()) return Fail(ExitCode::kUsage, place.error().message);
  auto agent = PlaceAgent(java->process, options.agent.agent_file);
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  if (place->is_relayed()) InterruptedBySignals();
  auto answer = Attach(*java, {agent->path, "start," + place->agent_text(), TimeoutMs(options)});
  agent->folder.reset();  // it is loaded, or will not be
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  if (!place->is_relayed()) return Tell(options, java->process.pid, *answer);
  const std::string path = std::filesystem::absolute(place->path());
  if (!options.quiet && !options.json) {
    PrintError(
        ToUtf8(fmt::format("PID {}: recording; the file is copied to {} when the recording ends (Ctrl-C ends it)",
                           java->process.pid, path)));
  }
  const ExitCode code = AwaitEnd(options, *java, &*place);
  if (code != ExitCode::kOk) return code;
  if (options.makes_page()) {
    const ExitCode pages = WritePages(options, *java, place->path());
    if (pages != ExitCode::kOk) return pages;
  }
  return Tell(options, java->process.pid, {.ok = true, .sentence = "recorded " + path});
}

ExitCode Stop(const AttachOptions& options) {
  auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  const Process& process = java->process;
  if (process.agent.empty()) {
    return Fail(ExitCode::kCannotAttach,
                fmt::format("PID {}: the heaprec agent is not loaded; 'heaprec list' shows where it is", process.pid));
  }
  auto agent = AgentFor(process, "");
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  auto answer = Attach(*java, {*agent, "stop", TimeoutMs(options)});
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  return Tell(options, process.pid, *answer);
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
  command.AddFlag("--inside", options->is_inside,
                  "FILE is a path in the JVM's container: the file stays there, and attach does not wait");
  command.AddOption("--report", options->report, "After --duration write the page of heaprec report to PAGE")
      .Value("PAGE");
  command.AddOption("--flame", options->flame, "After --duration write a flame graph to PAGE").Value("PAGE");
  command.AddFlag("-f,--force", options->force, "Overwrite PAGE if it exists");
  command.footer =
      R"(If the JVM belongs to another user or runs in a container, heaprec copies the
agent to a private folder in the JVM's files and removes it once it is loaded.
Where the JVM cannot write to FILE itself, attach waits until the recording
ends, copies it to FILE and removes it from the container; Ctrl-C ends the
recording. There --lib is a path in the container. JDK 21 and later print a
warning on the JVM's stderr unless it runs with -XX:+EnableDynamicAgentLoading.

With --report or --flame attach waits, too, and Ctrl-C ends the recording early;
the recording is written next to the page (PAGE with .hrec) unless -o is given.

Examples:
  heaprec attach 12345 --duration 60s -o app.hrec
  heaprec attach 12345 --duration 30s --report app.html
  heaprec attach com.example.Main --rate 300
  heaprec attach 12345 --inside -o /tmp/app.hrec
  heaprec attach app.jar --set source=jvmti)";
  command.run = [options](const auto&) { return AttachTo(*options); };
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
  command.run = [options](const auto&) { return Stop(*options); };
  return command;
}

}  // namespace heaprec::tools
