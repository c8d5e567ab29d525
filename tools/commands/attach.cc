// heaprec record, attach, stop: start and end a recording in a new or a running JVM.
#include "tools/control/attach.h"

#include <fmt/format.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/commands/page_output.h"
#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/control/recorded_command.h"
#include "tools/control/recording_output.h"
#include "tools/control/temporary_recording.h"
#include "tools/options/command.h"
#include "tools/render/renderers.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

ExitCode Record(const RecordOptions& options) {
  if (options.command.empty())
    return Fail(ExitCode::kUsage, "record: no command given; usage: heaprec record [OPTIONS] -- java ...");
  const auto command = RecordedCommand::Prepare(options);
  return command.ok() ? command->Run() : Fail(ExitCode::kUsage, command.error().message);
}

struct JvmOptions {
  std::string jvm;
  uint64_t timeout_ns = 10'000'000'000;
  bool quiet = false, json = false;

  void AddTo(Command& command);
  int timeout_ms() const { return static_cast<int>(timeout_ns / 1'000'000); }
  ExitCode Tell(pid_t pid, const AgentReply& reply) const;
};

void JvmOptions::AddTo(Command& command) {
  command
      .AddOption("JVM", jvm, "PID, main class or jar of the JVM (a part of the name is enough if only one JVM matches)")
      .Required();
  command.AddDuration("--timeout", timeout_ns, "Time to wait for the JVM (default: 10s)", 100'000'000,
                      3'600'000'000'000);
  command.AddFlag("--json", json, "Print the result as JSON");
  command.AddFlag("-q,--quiet", quiet, "Print errors only");
}

ExitCode JvmOptions::Tell(pid_t pid, const AgentReply& reply) const {
  const std::string sentence = ToUtf8(reply.sentence), line = fmt::format("PID {}: {}", pid, sentence);
  const ExitCode code = reply.is_unwritten ? ExitCode::kCannotWrite : ExitCode::kOk;
  if (reply.is_unwritten && !json) return Fail(code, line);
  if (quiet) return code;
  const render::Object summary{{"pid", pid}, {"answer", sentence}, {"unwritten", reply.is_unwritten}};
  Text text;
  json ? Append(text, render::JsonText(summary)) : AppendPrintable(text, line);
  text.push_back('\n');
  const ExitCode told = WriteFile("-", true, {text.data(), text.size()});
  return told != ExitCode::kOk ? told : code;
}

struct AttachOptions : JvmOptions {
  AgentOptions agent;
  std::string report, flame;  // pages to write at the end
  bool is_inside = false, force = false;
};

// Returns why the options cannot be combined; empty: they can.
std::string Objection(const AttachOptions& options) {
  if (options.report.empty() && options.flame.empty())
    return options.force ? "--force is for --report and --flame" : "";
  if (options.is_inside) return "--inside leaves the recording in the container; --report and --flame need it here";
  if (!options.agent.duration_ns) return "--report and --flame need --duration, such as --duration 30s";
  if (options.report == options.flame) return "--report and --flame need two files";
  for (const std::string& page : {options.report, options.flame}) {
    std::error_code error;
    if (!options.force && std::filesystem::is_regular_file(page, error)) return page + ": exists; -f overwrites it";
  }
  return {};
}

ExitCode WritePages(const AttachOptions& options, const JavaProcess& java, const RecordingOutput& place) {
  PageRequest page;
  page.scan.files = place.brought();
  page.title = fmt::format("{} (PID {})", ToUtf8(java.main), java.process.pid);
  const auto write = [&](const std::string& path) {
    return path.empty() ? ExitCode::kOk : PageOutput{path, options.force, options.quiet}.Write(page);
  };
  const ExitCode report = write(options.report);
  page.OpenAsFlameGraph();
  const ExitCode flame = write(options.flame);
  return report != ExitCode::kOk ? report : flame;
}

ExitCode AttachTo(AttachOptions options) {
  if (const std::string objection = Objection(options); !objection.empty()) return Fail(ExitCode::kUsage, objection);
  auto java = Find(options.jvm);
  if (!java.ok()) return Fail(ExitCode::kCannotAttach, java.error().message);
  const std::string& page = options.report.empty() ? options.flame : options.report;
  // Puts the recording beside the page, whose commands name it, unless another path was requested.
  if (!page.empty() && page != "-" && options.agent.output == AgentOptions().output) {
    options.agent.output = std::filesystem::path(page).replace_extension(".hrec").string();
  }
  RecordingOutput place;
  if (const auto failure = place.Choose(java->process, options.agent, options.is_inside, /*is_awaited=*/!page.empty()))
    return Fail(failure->code, failure->sentence);
  auto agent = PlaceAgent(java->process, options.agent.agent_file);
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  if (place.is_relayed()) CatchSignals({SIGINT, SIGTERM, SIGHUP});
  auto answer = Attach(*java, {agent->path, "start," + place.agent_text(), options.timeout_ms()});
  agent->folder.reset();  // the agent has been loaded, or will not be
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  if (!place.is_relayed()) return options.Tell(java->process.pid, *answer);
  if (!options.quiet && !options.json) {
    PrintError(
        ToUtf8(fmt::format("PID {}: recording; the file is copied to {} when the recording ends (Ctrl-C ends it)",
                           java->process.pid, place.path())));
  }
  ExitCode code = place.Bring(*java, options.timeout_ms(), !page.empty() && !options.quiet);
  if (code == ExitCode::kOk) code = WritePages(options, *java, place);
  if (code != ExitCode::kOk) return code;
  return options.Tell(java->process.pid, {.ok = true, .sentence = place.Sentence()});
}

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

Command RecordCommand() {
  auto options = std::make_shared<RecordOptions>();
  Command command("record", "Run a command and record its allocations");
  options->agent.AddTo(command);
  command.AddFlag("--child-jvms", options->child_jvms,
                  "Record every JVM that the command starts, through JAVA_TOOL_OPTIONS: each JVM then prints a line on "
                  "stderr. Keep %p in FILE");
  command
      .AddOption(
          "--native", options->native,
          "Also record native memory (without a JVM: only that). sampled: sample blocks and track them until they "
          "are freed; exact: count every block with libheaprec-native.so")
      .OneOf({kSampled, kExact})
      .Value("HOW");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print a summary line at the end");
  command.operand = "COMMAND...";
  command.takes_command = true;
  command.footer =
      R"(The exit code is the command's (128 + N after signal N, 127: no such command),
or 6 if it succeeds but was not recorded completely. Signals are forwarded. A
child that is forked without exec is not recorded: run servers in the
foreground.

Examples:
  heaprec record -- java -jar app.jar
  heaprec record -o app.hrec --rate 300 -- java -cp classes Main
  heaprec record --native=exact -o app.hrec -- java -jar app.jar
  heaprec record --native=sampled --rate 300 -o server.hrec -- ./server --port 80
  heaprec record --child-jvms -o app-%p.hrec -- mvn -q test)";
  command.run = [options](const Invocation& call) {
    options->command = call.rest;
    return Record(*options);
  };
  return command;
}

Command AttachCommand() {
  auto options = std::make_shared<AttachOptions>();
  Command command("attach", "Start recording a running JVM");
  options->AddTo(command);
  options->agent.AddTo(command);
  command.AddFlag("--inside", options->is_inside,
                  "FILE is a path in the JVM's container: the file stays there, and attach does not wait");
  command.AddOption("--report", options->report, "After --duration write the page of heaprec report to PAGE")
      .Value("PAGE");
  command.AddOption("--flame", options->flame, "After --duration write a flame graph to PAGE").Value("PAGE");
  command.AddFlag("-f,--force", options->force, "Overwrite PAGE if it exists");
  command.footer =
      R"(If the JVM is another user's or in a container, heaprec loads a private copy of
the agent into it, and --lib is a path in the container. If it cannot write to
FILE, attach waits until the recording ends, and then copies it to FILE. With
--report or --flame attach waits, too, and without -o the recording is beside
PAGE.
Ctrl-C ends the recording early. JDK 21 and later print a warning on the JVM's
stderr unless it runs with -XX:+EnableDynamicAgentLoading.

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
