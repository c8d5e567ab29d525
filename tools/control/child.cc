#include "tools/control/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

namespace heaprec::tools {
namespace {

constexpr int kNotFound = 127, kNotStarted = 126, kSignalled = 128;  // as in the shell

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

// Writes errno into `report`, which closes by itself if the command starts.
[[noreturn]] void FailToStart(int report) {
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = write(report, &error, sizeof error);
  _exit(error == ENOENT ? kNotFound : kNotStarted);
}

[[noreturn]] void Become(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         const sigset_t& mask, int report) {
  signal(SIGPIPE, SIG_DFL);  // SIGPIPE is ignored here, and that would be inherited
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> args;
  for (const std::string& word : command) args.push_back(const_cast<char*>(word.c_str()));
  args.push_back(nullptr);
  execvp(args[0], args.data());
  FailToStart(report);
}

int ReadError(int report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

// Returns the child's exit code, once it has ended. Reaps every child: as PID 1 of a container this process inherits
// orphans. If signals of the terminal stop the child, stops this process, too, so that the shell gets its terminal
// back; not if no shell could continue it. A SIGSTOP to the child must be ended by its sender.
std::optional<int> Look(pid_t child) {
  int status = 0;
  for (pid_t changed; (changed = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (changed != child) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return kSignalled + WTERMSIG(status);
    if (WSTOPSIG(status) != SIGSTOP) raise(WSTOPSIG(status));
  }
  return std::nullopt;
}

int Await(pid_t child, const sigset_t& watched) {
  while (true) {
    if (const auto code = Look(child)) return *code;
    siginfo_t info{};
    const int signal = sigwaitinfo(&watched, &info);
    // The terminal sends signals to the whole group, so the child already has those.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
  }
}

using Clock = std::chrono::steady_clock;

// Makes the process its own group, without a terminal. Returns false with errno.
bool StandAlone(const std::string& log_name) {
  setpgid(0, 0);
  const int log = open(log_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return log >= 0 && input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
         dup2(log, STDERR_FILENO) >= 0;
}

bool HasEnded(pid_t child, int* code) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return false;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return true;
}

// Waits for a signal until `end`, but at most a second, because a signal may have come before.
int AwaitSignal(const sigset_t& watched, std::optional<Clock::time_point> end) {
  using std::chrono::nanoseconds;
  nanoseconds left = std::chrono::seconds(1);
  if (end) left = std::clamp(nanoseconds(*end - Clock::now()), nanoseconds(0), left);
  const timespec timeout{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  return sigtimedwait(&watched, nullptr, &timeout);
}

void Await(pid_t child, const TimedRun& run, const sigset_t& watched, TimedResult* result) {
  std::optional<Clock::time_point> end;
  if (run.duration) end = Clock::now() + *run.duration;
  bool is_asked = false;
  while (!HasEnded(child, &result->code)) {
    const int signal = AwaitSignal(watched, end);
    const bool is_told = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    result->is_interrupted |= is_told;
    const bool is_late = end && Clock::now() >= *end;
    if (!is_told && !is_late) continue;
    // A second signal came, or the command did not end after the first.
    if (is_asked) {
      result->was_killed = true;
      kill(-child, SIGKILL);
      end.reset();
      continue;
    }
    is_asked = true;
    result->was_ended = true;
    kill(-child, SIGTERM);
    end = Clock::now() + run.grace;
  }
  kill(-child, SIGKILL);  // its remaining processes
}

// Starts the command and calls `await` to wait for its end, while the `watched` signals are blocked. `log`: null, or
// the file for the output of a command in its own group.
template <typename AwaitEnd>
ChildResult Run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                const sigset_t& watched, const std::string* log, const AwaitEnd& await) {
  ChildResult result{.error = {}, .code = kNotStarted};
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return result.error = std::strerror(errno), result;
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  result.pid = fork();
  if (result.pid == 0) {
    if (log != nullptr && !StandAlone(*log)) FailToStart(report[1]);
    Become(command, environment, before, report[1]);
  }
  close(report[1]);
  if (result.pid < 0) {
    result.error = std::strerror(errno);
  } else {
    const int error = ReadError(report[0]);
    if (error != 0) result.error = fmt::format("{}: {}", command.front(), std::strerror(error));
    result.code = await(result.pid);
  }
  close(report[0]);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  // Watches only signals that would end this process, or that the terminal sends; the child receives all others
  // directly.
  const sigset_t watched = SetOf({SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGCHLD});
  return Run(command, environment, watched, nullptr, [&](pid_t child) { return Await(child, watched); });
}

std::string FindInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view path = variable != nullptr ? variable : "/usr/bin:/bin";
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

TimedResult RunTimed(const TimedRun& run) {
  TimedResult result;
  const sigset_t watched = SetOf({SIGHUP, SIGINT, SIGTERM, SIGCHLD});
  const Clock::time_point start = Clock::now();
  static_cast<ChildResult&>(result) = Run(run.command, run.environment, watched, &run.log, [&](pid_t child) {
    Await(child, run, watched, &result);
    return result.code;
  });
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace heaprec::tools
