#include "tools/control/recorded_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "recorder/agent/options/options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/control/native_preload.h"
#include "tools/control/staging.h"
#include "tools/input/recording.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// What is said of a recording: "rec.bin: 1,234 samples", or why there is none.
struct Outcome {
  std::string text;
  bool is_unwritten = false;    // some of it could not be written
  std::optional<uint32_t> pid;  // of the recorded process
};

// What is added where some of it could not be written; empty: all was.
std::string Unwritten(const Recording& recording) {
  uint64_t lost = 0;
  for (const format::Stream stream : format::kAllStreams) {
    lost += recording.counters(stream).lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
  }
  std::string text;
  if (lost > 0) text = fmt::format("; lost {} that could not be written", CountOf(lost, "sample"));
  if (const int error = recording.salvage().write_errno; error != 0) {
    text += fmt::format("; its end could not be written ({}): free disk space, then run 'heaprec recover'",
                        std::strerror(error));
  }
  return text;
}

Outcome OutcomeOf(const AgentReply& answer) {
  constexpr std::string_view kRecording = "recording ";
  if (!answer.sentence.starts_with(kRecording)) return {answer.sentence, false, {}};
  const std::string path = answer.sentence.substr(kRecording.size());
  auto recording = Recording::Open(path);
  if (!recording.ok()) return {recording.error().message, false, {}};
  while ((*recording)->Next()) {
  }
  const std::string unwritten = Unwritten(**recording);
  std::string text = fmt::format("{}: {}", path, CountOf((*recording)->events(), "sample"));
  if (!(*recording)->ending()) {
    text += (*recording)->running()
                ? ", still running"
                : fmt::format(", cut off; {} of them from the ring", Grouped((*recording)->salvage().events));
  }
  return {text + unwritten, !unwritten.empty(), (*recording)->header().pid};
}

Result<std::unique_ptr<AgentReplies>> MakeReplies() {
  Process self;
  self.uid = geteuid();
  self.gid = getegid();
  auto folder = StageOutput(self);
  if (!folder.ok()) return folder.error();
  return std::make_unique<AgentReplies>(std::move(*folder));
}

}  // namespace

// Adds the option that has each agent leave its reply.
std::string RecordedCommand::WithReplies(const std::string& text) {
  auto replies = MakeReplies();
  if (!replies.ok()) return text;
  replies_ = std::move(*replies);
  return text + "," + replies_->option();
}

Result<RecordedCommand> RecordedCommand::Prepare(const RecordOptions& options) {
  auto library = FindAgent(options.agent.agent_file);
  if (!library.ok()) return library.error();
  const std::string text = options.agent.Text(/*as_they_are=*/false);
  RecordedCommand recorded(options);
  const std::string path = FindInPath(options.command.front());
  const bool is_program =
      !options.native.empty() && !options.child_jvms && !path.empty() && !StartsJvm(options.command, path);
  const Status prepared =
      is_program ? recorded.PrepareProgram(*library, text, path) : recorded.PrepareJvm(*library, text, path);
  if (!prepared) return prepared.error();
  return recorded;
}

// Its native memory, sampled or exact.
Status RecordedCommand::PrepareProgram(const std::string& library, const std::string& text, const std::string& path) {
  const auto program = PreloadableProgram(path);
  if (!program.ok()) return program.error();
  is_counted_ = options_.native == kExact;
  if (const auto valid = agent::ParseProgramOptions(text); !is_counted_ && !valid.ok()) return valid.error();
  auto preload = is_counted_ ? PreloadNative(library, options_.agent.output, *program)
                             : PreloadSampler(library, WithReplies(text), *program);
  if (!preload.ok()) return preload.error();
  native_ = std::move(*preload);
  environment_ = native_.environment;
  none_ = "nothing was recorded: no process of this program started";
  return {};
}

Status RecordedCommand::PrepareJvm(const std::string& library, const std::string& text, const std::string& path) {
  const std::string given = options_.native == kSampled ? text + ",native=on" : text;
  if (Status status = CheckOptions(given); !status) return status;
  const std::string options = WithReplies(given);
  const auto agent = AgentArgument(library, options);
  if (!agent.ok()) return agent.error();
  none_ =
      options_.child_jvms ? "no JVM was recorded" : "nothing was recorded: the JVM exited before the recording began";
  if (options_.native == kExact) {
    auto preload = PreloadNative(library, options_.agent.output, options_.child_jvms ? "java" : path);
    if (!preload.ok()) return preload.error();
    native_ = std::move(*preload);
    environment_ = native_.environment;
  }
  if (options_.child_jvms) {
    environment_.push_back(ToolOptions(*agent));
  } else if (!path.empty()) {
    auto with = WithAgent(options_.command, path, *agent);
    if (!with.ok()) return with.error();
    options_.command = std::move(*with);
  }
  return {};
}

ExitCode RecordedCommand::Run() const {
  const ChildResult child = RunChild(options_.command, environment_);
  const auto code = static_cast<ExitCode>(child.code);
  if (!child.error.empty()) return Fail(code, child.error);
  const ExitCode said = is_counted_ ? ReportTable(static_cast<uint32_t>(child.pid)) : ReportRecordings();
  return code != ExitCode::kOk ? code : said;
}

void RecordedCommand::Report(const std::string& sentence) const {
  if (!options_.quiet) PrintError(sentence);
}

ExitCode RecordedCommand::ReportTable(uint32_t pid) const {
  const std::string table = native_.TableOf(pid);
  if (table.empty()) {
    Report("no native memory was recorded");
    return ExitCode::kCannotWrite;
  }
  Report(table + ": exact native memory table; show it with 'heaprec native'");
  return ExitCode::kOk;
}

ExitCode RecordedCommand::ReportRecordings() const {
  if (replies_ == nullptr) return ExitCode::kOk;
  const auto all = replies_->Read();
  // Beside others that are recorded a process may well refuse: a script's other JVM may be too old.
  const bool is_refused = !all.empty() && std::ranges::none_of(all, &AgentReply::ok);
  ExitCode code = is_refused ? ExitCode::kCannotWrite : ExitCode::kOk;
  // An agent that refused has said why on stderr.
  if (all.empty()) Report(none_);
  for (const AgentReply& answer : all) {
    if (!answer.ok) continue;
    const Outcome outcome = OutcomeOf(answer);
    if (outcome.is_unwritten) code = ExitCode::kCannotWrite;
    Report(outcome.text);
    if (outcome.pid && !native_.table.empty() && ReportTable(*outcome.pid) != ExitCode::kOk)
      code = ExitCode::kCannotWrite;
  }
  return code;
}

}  // namespace heaprec::tools
