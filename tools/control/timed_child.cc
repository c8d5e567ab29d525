#include "tools/control/timed_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace heaprec::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotStarted = 127, kSignalled = 128;  // as the shell has them

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

// Writes errno into `report` if the command cannot be started.
[[noreturn]] void Become(const TimedRun& run, const sigset_t& mask, int report) {
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);  // ours is ignored, and that would be inherited
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int log = open(run.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  bool is_ready = log >= 0 && input >= 0;
  is_ready =
      is_ready && dup2(input, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0;
  if (is_ready) {
    for (const std::string& variable : run.environment) putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> args;
    for (const std::string& word : run.command) args.push_back(const_cast<char*>(word.c_str()));
    args.push_back(nullptr);
    execvp(args[0], args.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = write(report, &error, sizeof error);
  _exit(kNotStarted);
}

int ReadError(int report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

bool HasEnded(pid_t child, int* code) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return false;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return true;
}

// Waits for a signal until the end, at most a second: a signal may have come before.
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
    // Told a second time, or asked in vain.
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
  kill(-child, SIGKILL);  // what it has left behind
}

}  // namespace

TimedResult RunTimed(const TimedRun& run) {
  TimedResult result;
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return result.error = std::strerror(errno), result;
  const sigset_t watched = WatchedSignals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  const Clock::time_point start = Clock::now();
  const pid_t child = fork();
  if (child == 0) Become(run, before, report[1]);
  close(report[1]);
  if (child < 0) {
    result.error = std::strerror(errno);
  } else {
    setpgid(child, child);  // whichever of us is first
    if (const int error = ReadError(report[0]); error != 0) result.error = std::strerror(error);
    Await(child, run, watched, &result);
  }
  close(report[0]);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace heaprec::tools
