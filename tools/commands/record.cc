// heaprec record: starts a command with the agent in it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tools/control/agent_options.h"
#include "tools/control/agent_replies.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/control/native_preload.h"
#include "tools/control/program_file.h"
#include "tools/control/staging.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr char kExact[] = "exact", kSampled[] = "sampled";

struct RecordOptions {
  AgentOptions agent;
  std::string native;  // "exact", "sampled", or empty
  bool child_jvms = false, quiet = false;
  std::vector<std::string> command;
};

// What is said of a recording: "rec.bin: 1,234 samples", or why there is none.
struct Report {
  std::string text;
  bool is_unwritten = false;  // some of it could not be written
};

// What is added where some of it could not be written; empty: all was.
std::string Unwritten(const Recording& recording) {
  uint64_t lost = 0;
  for (const format::Stream stream : format::kAllStreams) {
    lost += recording.counters(stream).lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  std::string text;
  if (lost > 0) text = fmt::format("; {} samples could not be written and are lost", Grouped(lost));
  if (const int error = recording.salvage().write_errno; error != 0) {
    text += fmt::format("; its end could not be written ({}): free disk space, then run 'heaprec recover'",
                        std::strerror(error));
  }
  return text;
}

Report ReportOn(const AgentReply& answer) {
  constexpr std::string_view kRecording = "recording ";
  if (!answer.ok) return {"not recorded: " + answer.sentence};
  if (!answer.sentence.starts_with(kRecording)) return {answer.sentence};
  const std::string path = answer.sentence.substr(kRecording.size());
  auto recording = Recording::Open(path);
  if (!recording.ok()) return {recording.error().message};
  while ((*recording)->Next()) {
  }
  const std::string unwritten = Unwritten(**recording);
  std::string text = fmt::format("{}: {} samples", path, Grouped((*recording)->events()));
  if (!(*recording)->ending()) {
    text += (*recording)->running()
                ? ", still running"
                : fmt::format(", cut off; {} of them from the ring", Grouped((*recording)->salvage().events));
  }
  return {text + unwritten, !unwritten.empty()};
}

// Where the table of the same process is.
void TellTable(const AgentReply& answer, const NativePreload& native) {
  const auto recording = Recording::Open(answer.sentence.substr(answer.sentence.find(' ') + 1));
  if (!recording.ok()) return;
  const std::string table = native.TableOf((*recording)->header().pid);
  if (!table.empty()) PrintError(table + ": exact native memory table; show it with 'heaprec native'");
}

// Says what became of the recordings. `none`: what is said if no agent has answered. The exit code of `record`, if the
// command's is 0.
ExitCode Tell(const AgentReplies* answers, const char* none, const NativePreload& native, bool quiet) {
  if (answers == nullptr) return ExitCode::kOk;
  const auto all = answers->Read();
  // Beside others that are recorded a process may well refuse: a script's other JVM may be too old.
  const bool is_refused = !all.empty() && std::ranges::none_of(all, &AgentReply::ok);
  ExitCode code = is_refused ? ExitCode::kCannotWrite : ExitCode::kOk;
  const auto say = [quiet](const std::string& text) {
    if (!quiet) PrintError(text);
  };
  // An agent that refused has said why on stderr.
  if (all.empty()) say(none);
  for (const AgentReply& answer : all) {
    if (!answer.ok) continue;
    const Report report = ReportOn(answer);
    if (report.is_unwritten) code = ExitCode::kCannotWrite;
    say(report.text);
    if (!quiet && !native.table.empty()) TellTable(answer, native);
  }
  return code;
}

// The command's own code comes first.
ExitCode Conclude(int code, ExitCode told) { return code == 0 ? told : static_cast<ExitCode>(code); }

format::Result<std::unique_ptr<AgentReplies>> MakeAnswers() {
  Process self;
  self.uid = geteuid();
  self.gid = getegid();
  auto folder = StageOutput(self);
  if (!folder.ok()) return folder.error();
  return std::make_unique<AgentReplies>(std::move(*folder));
}

// A program without a JVM: its native memory, sampled or exact. `path`: where it was found; empty: nowhere.
ExitCode RecordPlain(const RecordOptions& options, const std::string& library, const std::string& text,
                     const std::string& path) {
  const auto program = PreloadableProgram(path);
  if (!program.ok()) return Fail(ExitCode::kUsage, program.error().message);
  const auto answers = MakeAnswers();
  const bool is_exact = options.native == kExact;
  const std::string with_answer = answers.ok() ? text + "," + (*answers)->option() : text;
  const auto preload = is_exact ? PreloadNative(library, options.agent.output, *program)
                                : PreloadSampler(library, with_answer, *program);
  if (!preload.ok()) return Fail(ExitCode::kUsage, preload.error().message);
  std::string why;
  pid_t pid = 0;
  const int code = RunChild(options.command, preload->environment, &why, &pid);
  if (!why.empty()) PrintError(why);
  if (!why.empty()) return static_cast<ExitCode>(code);
  if (is_exact) {
    const std::string table = preload->TableOf(static_cast<uint32_t>(pid));
    if (options.quiet) return static_cast<ExitCode>(code);
    PrintError(table.empty() ? "nothing was recorded"
                             : table + ": exact native memory table; show it with 'heaprec native'");
    return static_cast<ExitCode>(code);
  }
  return Conclude(code, Tell(answers.ok() ? answers->get() : nullptr,
                             "nothing was recorded: no process of this program started", *preload, options.quiet));
}

ExitCode Record(const RecordOptions& options) {
  if (options.command.empty())
    return Fail(ExitCode::kUsage, "record: no command given; usage: heaprec record [OPTIONS] -- java ...");
  auto library = FindAgent(options.agent.agent_file);
  if (!library.ok()) return Fail(ExitCode::kUsage, library.error().message);
  auto text = options.agent.Text(/*as_they_are=*/false);
  if (!text.ok()) return Fail(ExitCode::kUsage, text.error().message);
  const std::string path = FindInPath(options.command.front());
  if (!options.native.empty() && !options.child_jvms && !path.empty() && !StartsJvm(options.command, path)) {
    return RecordPlain(options, *library, *text, path);
  }
  if (options.native == kSampled) *text += ",native=on";

  auto answers = MakeAnswers();
  const std::string agent =
      fmt::format("-agentpath:{}={}{}", *library, *text, answers.ok() ? "," + (*answers)->option() : "");
  std::vector<std::string> environment, command = options.command;
  NativePreload native;
  if (options.native == kExact) {
    auto preload = PreloadNative(*library, options.agent.output, options.child_jvms ? "java" : path);
    if (!preload.ok()) return Fail(ExitCode::kUsage, preload.error().message);
    native = *preload;
    environment = native.environment;
  }
  if (options.child_jvms) {
    environment.push_back(ToolOptions(agent));
  } else if (!path.empty()) {
    auto with = WithAgent(command, path, agent);
    if (!with.ok()) return Fail(ExitCode::kUsage, with.error().message);
    command = *with;
  }
  std::string why;
  const int code = RunChild(command, environment, &why);
  if (!why.empty()) PrintError(why);
  const char* const none =
      options.child_jvms ? "no JVM was recorded" : "nothing was recorded: the JVM exited before the recording began";
  if (!why.empty()) return static_cast<ExitCode>(code);
  return Conclude(code, Tell(answers.ok() ? answers->get() : nullptr, none, native, options.quiet));
}

}  // namespace

Command RecordCommand() {
  auto options = std::make_shared<RecordOptions>();
  Command command("record", "Run a command and record its allocations");
  options->agent.AddTo(command);
  command
      .AddFlag("--child-jvms", options->child_jvms,
               "Record every JVM that the command starts, through JAVA_TOOL_OPTIONS; each JVM prints a line "
               "\"Picked up JAVA_TOOL_OPTIONS: ...\" on its stderr. Keep %p in FILE")
      .Formerly("--children");
  command
      .AddOption(
          "--native", options->native,
          "Also record native memory (a program without a JVM: native memory only). sampled: sample blocks and track "
          "them until they are freed; exact: count every block with libheaprec-native.so, which replaces malloc")
      .OneOf({kSampled, kExact})
      .Value("HOW");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print a summary line at the end");
  command.operand = "COMMAND...";
  command.takes_command = true;
  command.footer =
      R"(The exit code is the command's: 128 + N if signal N ended it, 127 if the command
does not exist. If the command succeeds but the agent did not record it, or
could not write the whole recording, the exit code is 6. Signals are forwarded
to the command.

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

}  // namespace heaprec::tools
