#include "tools/control/recorded_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/option_text.h"
#include "base/output_path.h"
#include "base/result.h"
#include "recorder/agent/options/options.h"
#include "tools/control/child.h"
#include "tools/control/java_command.h"
#include "tools/control/private_folder.h"
#include "tools/input/confined_open.h"
#include "tools/input/recording.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kShell[] = "/bin/sh";
constexpr int kMaxInterpreters = 4;  // as in the kernel
// Each has its own malloc, which must be loaded first.
constexpr std::array<std::string_view, 4> kSanitizers{"libasan.", "libtsan.", "libhwasan.", "libmsan."};
constexpr std::array<std::string_view, 4> kInsideSanitizers{"__asan_init", "__tsan_init", "__hwasan_init",
                                                            "__msan_init"};

std::string FirstLine(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  return line;
}

// Returns python3, from PATH, for "#!/usr/bin/env python3".
std::string InterpreterOf(const std::string& line) {
  std::istringstream words(line.substr(2));
  std::string interpreter, argument;
  words >> interpreter;
  if (fs::path(interpreter).filename() != "env") return interpreter;
  while (words >> argument) {
    if (!argument.starts_with('-') && argument.find('=') == std::string::npos) return FindInPath(argument);
  }
  return interpreter;
}

bool HasSanitizer(const ElfFile& program) {
  for (const std::string& library : program.Needed()) {
    const auto is_named = [&](std::string_view one) { return library.starts_with(one); };
    if (std::ranges::any_of(kSanitizers, is_named)) return true;
  }
  const auto symbols = program.ReadSymbols(SHT_DYNSYM);
  return symbols && std::ranges::any_of(symbols->entries, [&](const Elf64_Sym& symbol) {
           return symbol.st_shndx != SHN_UNDEF &&
                  std::ranges::find(kInsideSanitizers, symbols->Name(symbol)) != kInsideSanitizers.end();
         });
}

// Returns why nothing can be preloaded; empty: it can.
std::string ObjectionTo(const std::string& path, const std::string& head) {
  constexpr const char* kForeign = "built for another machine";
  if (head.size() > EI_DATA && head[EI_CLASS] != ELFCLASS64) return kForeign;
  const auto program = OpenElf(path), own = OpenElf("/proc/self/exe");
  if (!program || !own) return "";
  // The preloaded library is built for the same machine as this command.
  if (program->machine() != own->machine()) return kForeign;
  if (!program->HasSegment(PT_INTERP)) return "statically linked: nothing can be preloaded into it";
  struct stat status {};
  const bool has_rights =
      stat(path.c_str(), &status) == 0 && (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                                           ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
  if (has_rights) return "set-user-ID or set-group-ID program: the loader preloads nothing into it";
  return HasSanitizer(*program) ? "built with a sanitizer, whose malloc must come first" : "";
}

// HotSpot's own functions allocate for others, so a single frame does not distinguish sites.
constexpr int kDepth = 8;

// Returns "/x/rec-native-%p.hnt" for "/x/rec-%p.hrec".
std::string TableFor(const std::string& recording) {
  const fs::path path = fs::absolute(recording);
  std::string stem = path.stem().string();
  stem.erase(std::min(stem.find('%'), stem.size()));
  while (stem.ends_with('-')) stem.pop_back();
  return (path.parent_path() / fmt::format("{}native-%p.hnt", stem.empty() ? "" : stem + "-")).string();
}

Status CheckPreload(const std::string& library, const char* how) {
  if (library.find_first_of(" :") == std::string::npos) return {};
  return Error{
      fmt::format("--native={}: LD_PRELOAD cannot load {}: the path contains a space or a colon", how, library)};
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// Puts the library before others that are preloaded, because the first one is called.
std::string Preloaded(const std::string& library) {
  const std::string before = Variable("LD_PRELOAD");
  return fmt::format("LD_PRELOAD={}{}{}", library, before.empty() ? "" : ":", before);
}

// Returns the program's own name as an option.
std::string NameOf(const std::string& program) {
  std::error_code error;
  const fs::path file = fs::canonical(program, error);
  return Escaped(error ? program : file.filename().string());
}

// The message about a recording: "rec.bin: 1,234 samples", or why there is none.
struct Outcome {
  std::string text;
  bool is_unwritten = false;    // a part of it could not be written
  std::optional<uint32_t> pid;  // the recorded process
};

// Returns what is added if a part of it could not be written; empty: all was written.
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
  Walk(recording->get(), [](const format::Block&) {});
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
  ASSIGN_OR_RETURN(auto folder, StageOutput(self));
  return std::make_unique<AgentReplies>(std::move(folder));
}

// Returns the file that becomes the process; for a script, its interpreter. Fails if nothing can be preloaded into it:
// statically linked, for another machine, with another user's rights, with a sanitizer's malloc. `path`: where the
// command was found. Does not fail for unreadable files.
Result<std::string> PreloadableProgram(const std::string& path) {
  std::error_code error;
  fs::path file = fs::canonical(path, error);
  for (int i = 0; i < kMaxInterpreters && !error; ++i) {
    const std::string line = FirstLine(file);
    if (line.starts_with("\x7f"
                         "ELF")) {
      const std::string objection = ObjectionTo(file, line);
      if (objection.empty()) return file.string();
      return Error{fmt::format("{}: {}", file.string(), objection)};
    }
    if (line.empty()) break;
    // Files that the kernel cannot execute are run by the shell.
    file = fs::canonical(line.starts_with("#!") ? InterpreterOf(line) : kShell, error);
  }
  return error ? path : file.string();
}

// `agent`: path of libheaprec.so; the library is next to it. `recording`: value of -o; the table is written next to it.
// `program`: the file that becomes the process; other programs that inherit the environment are not counted.
Result<NativePreload> PreloadNative(const std::string& agent, const std::string& recording,
                                    const std::string& program) {
  const std::string library = (fs::path(agent).parent_path() / "libheaprec-native.so").string();
  std::error_code error;
  if (!fs::exists(library, error))
    return Error{
        fmt::format("--native=exact: cannot find {}; build it with 'bazel build "
                    "//recorder:libheaprec-native.so'",
                    library)};
  RETURN_IF_ERROR(CheckPreload(library, "exact"));
  RETURN_IF_ERROR(CheckOutput(recording));
  NativePreload preload{{}, TableFor(recording)};
  preload.environment.push_back(Preloaded(library));
  preload.environment.push_back(
      fmt::format("HEAPREC_NATIVE_EXACT=file={},depth={},only={}", Escaped(preload.table), kDepth, NameOf(program)));
  return preload;
}

// `agent`: as above. `options`: those of the agent; `only` is set to the program unless they contain it.
Result<NativePreload> PreloadSampler(const std::string& agent, const std::string& options, const std::string& program) {
  RETURN_IF_ERROR(CheckPreload(agent, "sampled"));
  const bool has_only = ("," + options).find(",only=") != std::string::npos;
  const std::string only = has_only ? "" : ",only=" + NameOf(program);
  return NativePreload{{Preloaded(agent), fmt::format("HEAPREC_NATIVE_SAMPLED={}{}", options, only)}, ""};
}

}  // namespace

std::string NativePreload::TableOf(uint32_t pid) const {
  std::string path = table;
  path.replace(path.rfind("%p"), 2, std::to_string(pid));
  const std::string shared = fmt::format("/dev/shm/heaprec-native-{}", pid);
  std::error_code error;
  return fs::exists(path, error) ? path : fs::exists(shared, error) ? shared : "";
}

// Adds the option that makes each agent write its reply.
std::string RecordedCommand::WithReplies(const std::string& text) {
  auto replies = MakeReplies();
  if (!replies.ok()) return text;
  replies_ = std::move(*replies);
  return text + "," + replies_->option();
}

Result<RecordedCommand> RecordedCommand::Prepare(const RecordOptions& options) {
  ASSIGN_OR_RETURN(auto library, FindAgent(options.agent.agent_file));
  const std::string text = options.agent.Text(/*as_they_are=*/false);
  RecordedCommand recorded(options);
  const std::string path = FindInPath(options.command.front());
  const bool is_program =
      !options.native.empty() && !options.child_jvms && !path.empty() && !StartsJvm(options.command, path);
  const Status prepared =
      is_program ? recorded.PrepareProgram(library, text, path) : recorded.PrepareJvm(library, text, path);
  if (!prepared) return prepared.error();
  return recorded;
}

// For native memory, sampled or exact.
Status RecordedCommand::PrepareProgram(const std::string& library, const std::string& text, const std::string& path) {
  ASSIGN_OR_RETURN(const auto program, PreloadableProgram(path));
  is_counted_ = options_.native == kExact;
  if (const auto valid = agent::ParseProgramOptions(text); !is_counted_ && !valid.ok()) return valid.error();
  ASSIGN_OR_RETURN(native_, is_counted_ ? PreloadNative(library, options_.agent.output, program)
                                        : PreloadSampler(library, WithReplies(text), program));
  environment_ = native_.environment;
  none_ = "nothing was recorded: no process of this program started";
  return {};
}

Status RecordedCommand::PrepareJvm(const std::string& library, const std::string& text, const std::string& path) {
  const std::string given = options_.native == kSampled ? text + ",native=on" : text;
  RETURN_IF_ERROR(CheckAgentOptions(given));
  const std::string options = WithReplies(given);
  ASSIGN_OR_RETURN(const auto agent, AgentArgument(library, options));
  none_ =
      options_.child_jvms ? "no JVM was recorded" : "nothing was recorded: the JVM exited before the recording began";
  if (options_.native == kExact) {
    ASSIGN_OR_RETURN(native_, PreloadNative(library, options_.agent.output, options_.child_jvms ? "java" : path));
    environment_ = native_.environment;
  }
  if (options_.child_jvms) {
    environment_.push_back(ToolOptions(agent));
  } else if (!path.empty()) {
    ASSIGN_OR_RETURN(options_.command, WithAgent(options_.command, path, agent));
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
  // If others are recorded, a process may refuse: another JVM of a script may be too old.
  const bool is_refused = !all.empty() && std::ranges::none_of(all, &AgentReply::ok);
  ExitCode code = is_refused ? ExitCode::kCannotWrite : ExitCode::kOk;
  // An agent that refuses prints the reason on stderr.
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
