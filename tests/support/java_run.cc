#include "tests/support/java_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace heaprec::testing {
namespace {

constexpr useconds_t kPollUs = 2000;
// Nothing that works takes so long, even on a busy machine.
constexpr int kPollsPerSecond = 1'000'000 / kPollUs, kPatiencePolls = 90 * kPollsPerSecond;

std::string Environment(const char* name, const char* otherwise) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr && *value != '\0' ? value : otherwise;
}

int OpenForWriting(const std::string& path) { return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600); }

// Returns the stacks of the threads of a process that does not end.
std::string HangReport(pid_t pid) {
  const std::string command = RunfilePath("tests/support/hang_report.py") + " " + std::to_string(pid) + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a tool of our own
  if (pipe == nullptr) return "no evidence";
  std::string text;
  for (int next = fgetc(pipe); next != EOF; next = fgetc(pipe)) text += static_cast<char>(next);
  pclose(pipe);
  return text;
}

[[noreturn]] void Become(const Command& command, const std::string& out, const std::string& err) {
  for (const std::string& variable : command.environment) putenv(const_cast<char*>(variable.c_str()));
  if (chdir(command.folder.c_str()) != 0) _exit(127);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(OpenForWriting(out), STDOUT_FILENO);
  dup2(OpenForWriting(err), STDERR_FILENO);
  if (command.largest_file_bytes) {
    const rlimit limit{*command.largest_file_bytes, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> args;
  for (const std::string& arg : command.args) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  execvp(args[0], args.data());
  dprintf(STDERR_FILENO, "%s cannot be started\n", args[0]);
  _exit(127);
}

}  // namespace

Process::Process(const Command& command) : polls_(kPatiencePolls + command.seconds * kPollsPerSecond) {
  const std::string scratch = FreshFolder();
  Command placed = command;
  if (placed.folder.empty()) placed.folder = scratch;
  out_path_ = scratch + "/stdout";
  err_path_ = scratch + "/stderr";
  pid_ = fork();
  if (pid_ == 0) Become(placed, out_path_, err_path_);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      polls_(other.polls_),
      out_path_(std::move(other.out_path_)),
      err_path_(std::move(other.err_path_)),
      status_(other.status_) {}

Process::~Process() {
  if (pid_ <= 0 || status_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string Process::Out() const { return ReadFile(out_path_); }

bool Process::Poll() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

template <typename Condition>
bool Process::WaitFor(const Condition& condition) {
  for (int i = 0; i < polls_; ++i) {
    if (condition()) return true;
    if (Poll()) return condition();
    usleep(kPollUs);
  }
  return false;
}

bool Process::WaitForOutput(const std::string& text) {
  return WaitFor([&] { return Out().find(text) != std::string::npos; });
}

bool Process::WaitForFile(const std::string& path) {
  return WaitFor([&] { return FileExists(path); });
}

void Process::Kill(int signal) const {
  if (!status_) kill(pid_, signal);
}

void Process::LiftFileLimit() const {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr);
}

namespace {

// Any agent of the machine says so that starts when other tests have left too many rings.
std::string WithoutRingsOfOthers(const std::string& err) {
  std::istringstream lines(err);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("removed the ring of a killed process") != std::string::npos) continue;
    kept += line;
    if (!lines.eof()) kept += '\n';
  }
  return kept;
}

}  // namespace

bool Process::Wait() {
  return WaitFor([this] { return Poll(); });
}

Outcome Process::Finish() {
  Outcome outcome;
  const bool ended = Wait();
  if (ended) {
    if (WIFEXITED(*status_)) outcome.exit_code = WEXITSTATUS(*status_);
    if (WIFSIGNALED(*status_)) outcome.signal = WTERMSIG(*status_);
  }
  outcome.out = ReadFile(out_path_);
  outcome.err = WithoutRingsOfOthers(ReadFile(err_path_));
  if (!ended) outcome.err += "never ended: " + HangReport(pid_);
  return outcome;
}

Outcome Run(const Command& command) { return Process(command).Finish(); }

Command HeaprecCommand(std::vector<std::string> args) {
  args.insert(args.begin(), HeaprecPath());
  return {.args = std::move(args), .environment = {"HEAPREC_LIB=" + AgentPath()}};
}

Outcome Heaprec(std::vector<std::string> args) { return Run(HeaprecCommand(std::move(args))); }

std::vector<Outcome> RunAll(const std::vector<Command>& commands, size_t at_once) {
  std::vector<Process> processes;
  processes.reserve(commands.size());
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (i >= at_once) outcomes.push_back(processes[i - at_once].Finish());
    processes.emplace_back(commands[i]);
  }
  while (outcomes.size() < processes.size()) outcomes.push_back(processes[outcomes.size()].Finish());
  return outcomes;
}

// Opened for reading and writing, it waits for nobody.
FullPipe::FullPipe() : path_(FreshFolder() + "/pipe") {
  if (mkfifo(path_.c_str(), 0600) != 0) return;
  end_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  while (write(end_, "x", 1) == 1) {
  }
}
FullPipe::~FullPipe() { close(end_); }
Command FullPipe::Into(Command command) const {
  command.args.insert(command.args.begin(), {"sh", "-c", "exec \"$@\" 2>\"$0\"", path_});
  return command;
}

std::string JavaHome() { return Environment("JAVA_HOME", "/usr/lib/jvm/default-java"); }

std::string RunfilePath(const std::string& path) {
  static const std::filesystem::path root = std::filesystem::current_path();  // Bazel starts tests in the runfiles
  return (root / path).string();
}
std::string AgentPath() { return RunfilePath("recorder/libheaprec.so"); }
std::string HeaprecPath() { return RunfilePath("tools/heaprec"); }
std::string ProgramsJar() { return RunfilePath("tests/e2e/programs.jar"); }

std::string FreshFolder() {
  std::string path = Environment("TEST_TMPDIR", "/tmp") + "/run-XXXXXX";
  return mkdtemp(path.data()) != nullptr ? path : "/nonexistent";
}

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool IsOpenToOthers(const std::string& path) {
  namespace fs = std::filesystem;
  for (fs::path at = fs::canonical(path); at.has_relative_path(); at = at.parent_path()) {
    if ((fs::status(at).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
  }
  return true;
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> RingsOf(pid_t pid) {
  const std::string prefix = "heaprec-" + std::to_string(pid) + "-";
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(prefix)) paths.push_back(entry.path());
  }
  return paths;
}

void RemoveRingsOf(pid_t pid) {
  for (const std::string& path : RingsOf(pid)) unlink(path.c_str());
}

Command CommandOf(const Java& java) {
  Command command;
  command.args = {java.home + "/bin/java", "-Xmx400m"};
  if (java.agent_options) command.args.push_back("-agentpath:" + java.agent + "=" + *java.agent_options);
  command.args.insert(command.args.end(), java.flags.begin(), java.flags.end());
  command.args.insert(command.args.end(), {"-cp", ProgramsJar(), java.main});
  command.args.insert(command.args.end(), java.args.begin(), java.args.end());
  return command;
}

}  // namespace heaprec::testing
