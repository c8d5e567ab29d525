// heaprec attach, heaprec stop: start and end a recording in a JVM that is running.
#include "tools/control/attach.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "tools/commands/pages.h"
#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/control/recording_relay.h"
#include "tools/control/staging.h"
#include "tools/control/temporary_recording.h"
#include "tools/export/output_file.h"
#include "tools/options/command.h"
#include "tools/query/filter/time_point.h"
#include "tools/text/bars.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"
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
    output.Append(nlohmann::json({{"pid", pid}, {"answer", sentence}, {"unwritten", answer.is_unwritten}}).dump() +
                  "\n");
  } else {
    output.Append(fmt::format("PID {}: {}\n", pid, sentence));
  }
  output.Flush();
  const ExitCode told = output.Report("standard output");
  return told == ExitCode::kOk && answer.is_unwritten ? ExitCode::kCannotWrite : told;
}

// Where the recording goes: while it lives, the folder in the JVM's files exists.
struct Setup {
  std::string output;  // ours, where the recording is copied to; empty: the JVM writes to its place itself
  std::unique_ptr<RecordingRelay> relay;
  std::unique_ptr<OutputFile> file;
};

// By the same rules as the agent's own (docs/reference/agent-options.md): %p, %t, %n.
std::string Expand(const std::string& pattern, pid_t pid, int number) {
  std::array<char, 32> now{};
  const time_t seconds = time(nullptr);
  tm parts{};
  strftime(now.data(), now.size(), "%Y_%m_%d_%H_%M_%S", localtime_r(&seconds, &parts));
  const std::map<char, std::string> meanings{
      {'p', std::to_string(pid)}, {'t', now.data()}, {'n', std::to_string(number)}, {'%', "%"}};
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const auto meaning = pattern[i] == '%' && i + 1 < pattern.size() ? meanings.find(pattern[i + 1]) : meanings.end();
    if (meaning == meanings.end()) {
      path += pattern[i];
    } else {
      path += meaning->second;
      ++i;
    }
  }
  return path;
}

// The first name that no file has; "rec.bin", "rec-1.bin" without %n.
std::string FreeName(const std::string& pattern, pid_t pid) {
  constexpr int kMaxNames = 1000;
  const bool counts = Expand(pattern, pid, 0) != Expand(pattern, pid, 1);
  for (int number = 0; number < kMaxNames; ++number) {
    std::filesystem::path path = Expand(pattern, pid, number);
    if (!counts && number > 0) {
      path.replace_filename(fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string()));
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return path;
  }
  return Expand(pattern, pid, 0);
}

// The agent's options; where the JVM cannot write to the place that was asked for, or we wait for the end anyway, it
// writes to one of its own.
format::Result<std::string> ChooseOutput(const Process& process, const AttachOptions& options, AgentOptions agent,
                                         Setup* setup) {
  const std::string folder = std::filesystem::absolute(agent.output).parent_path();
  const bool can_write = process.same_files && (process.uid == geteuid() || CanWriteIn(process, folder));
  if (options.is_inside || (can_write && !options.makes_page())) return agent.Text(/*as_they_are=*/!process.same_files);
  setup->output = FreeName(agent.output, process.pid);
  auto file = OutputFile::Open(setup->output, /*overwrite=*/false);
  if (!file.ok()) return file.error();
  setup->file = std::move(*file);
  fchmod(setup->file->descriptor(), 0640);  // as the agent's own files
  auto relay = RecordingRelay::Make(process);
  if (!relay.ok()) return relay.error();
  setup->relay = std::move(*relay);
  agent.output = setup->relay->path();
  if (!agent.file.empty()) {
    if (const auto error = StageFile(setup->relay->folder(), agent.file, "options")) return *error;
    agent.file = setup->relay->folder().path() + "/options";
  }
  return agent.Text(/*as_they_are=*/true);
}

volatile std::sig_atomic_t is_interrupted = 0;

void InterruptedBySignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// Of plain files: as long as it was when it was opened, whatever the JVM's user does with it now.
bool CopyOut(const Descriptor& from, Output* output) {
  constexpr size_t kPiece = 1 << 20;
  struct stat status {};
  if (fstat(from.number(), &status) != 0) return false;
  std::string piece(kPiece, '\0');
  for (auto left = static_cast<size_t>(status.st_size); left > 0;) {
    const ssize_t got = read(from.number(), piece.data(), std::min(left, piece.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    output->Append({piece.data(), static_cast<size_t>(got)});
    output->Tick();
    left -= static_cast<size_t>(got);
  }
  output->Flush();
  return true;
}

// A line on a terminal's stderr that says how long the recording goes on.
class Countdown {
 public:
  Countdown(const AttachOptions& options, pid_t pid)
      : pid_(pid), is_shown_(isatty(STDERR_FILENO) == 1 && !options.quiet && options.makes_page()) {
    const auto duration = ParseTimePoint(options.agent.duration);
    if (duration.ok() && duration->since_start) seconds_ = static_cast<double>(duration->ns) * 1e-9;
  }
  ~Countdown() { Print("\r\x1b[K"); }
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

  void Tell() const {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const double left = std::max(seconds_ - passed, 0.0);
    const bool unicode = Terminal::Of(STDERR_FILENO).unicode;
    Print(fmt::format("\r\x1b[KPID {}: recording {} {:.0f} s left; Ctrl-C ends it", pid_,
                      Bar(seconds_ > 0 ? std::min(passed / seconds_, 1.0) : 1, kBar, unicode), std::ceil(left)));
  }

 private:
  static constexpr size_t kBar = 30;
  void Print(const std::string& text) const {
    if (!is_shown_) return;
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  }
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const pid_t pid_;
  const bool is_shown_;
  double seconds_ = 0;
};

// Until the recording has ended, by itself or by a signal to us, which ends it.
bool WaitForEnd(const AttachOptions& options, const JavaProcess& java, const RecordingRelay& relay) {
  const Countdown countdown(options, java.process.pid);
  return relay.Wait([&countdown] {
    countdown.Tell();
    return is_interrupted != 0;
  });
}

// Until it is in our file.
ExitCode Relay(const AttachOptions& options, const JavaProcess& java, Setup* setup) {
  const pid_t pid = java.process.pid;
  const std::string theirs = setup->relay->path();
  const auto keep = [&](ExitCode code, const std::string& why) {
    setup->relay->Keep();
    return Fail(code, fmt::format("{}; the recording is in the JVM's own files, at {}", why, theirs));
  };
  if (!WaitForEnd(options, java, *setup->relay)) {
    if (const auto error = StopRecording(java, TimeoutMs(options)))
      return keep(ExitCode::kCannotAttach, error->message);
    (void)setup->relay->Wait([] { return false; });
  }
  const Descriptor recording = setup->relay->Recording();
  if (!recording.is_open()) return Fail(ExitCode::kCannotAttach, fmt::format("PID {}: no recording was written", pid));
  Output output(setup->file->descriptor());
  if (!CopyOut(recording, &output)) {
    return keep(ExitCode::kCannotWrite, fmt::format("PID {}: {}: {}", pid, theirs, std::strerror(errno)));
  }
  const ExitCode written = output.Report(setup->output);
  if (written != ExitCode::kOk || output.failed()) return keep(ExitCode::kCannotWrite, setup->output + ": not written");
  if (const auto error = setup->file->Commit()) return keep(ExitCode::kCannotWrite, error->message);
  return ExitCode::kOk;
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
  Setup setup;
  auto text = ChooseOutput(java->process, options, options.agent, &setup);
  if (!text.ok()) return Fail(ExitCode::kUsage, text.error().message);
  auto agent = PlaceAgent(java->process, options.agent.agent_file);
  if (!agent.ok()) return Fail(ExitCode::kCannotAttach, agent.error().message);
  if (setup.relay) InterruptedBySignals();
  auto answer = Attach(*java, {agent->path, "start," + *text, TimeoutMs(options)});
  agent->folder.reset();  // it is loaded, or will not be
  if (!answer.ok()) return Fail(ExitCode::kCannotAttach, answer.error().message);
  if (!setup.relay) return Tell(options, java->process.pid, *answer);
  const std::string place = std::filesystem::absolute(setup.output);
  if (!options.quiet && !options.json) {
    PrintError(
        ToUtf8(fmt::format("PID {}: recording; the file is copied to {} when the recording ends (Ctrl-C ends it)",
                           java->process.pid, place)));
  }
  const ExitCode code = Relay(options, *java, &setup);
  if (code != ExitCode::kOk) return code;
  if (options.makes_page()) {
    const ExitCode pages = WritePages(options, *java, setup.output);
    if (pages != ExitCode::kOk) return pages;
  }
  return Tell(options, java->process.pid, {.ok = true, .sentence = "recorded " + place});
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
the recording lies beside the page (PAGE with .hrec) unless -o says otherwise.

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
