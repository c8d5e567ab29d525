// A number that a second process gets after the first one has ended.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <optional>

#include "tools/control/process.h"

namespace heaprec::tools {
namespace {

// What SIGQUIT would end, as it would a JVM that is starting.
pid_t StartVictim() {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGQUIT, SIG_DFL);
  for (;;) pause();
}

int EndOf(pid_t child) {
  kill(child, SIGKILL);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

Process ProcessOf(pid_t pid) {
  Process process;
  process.pid = pid;
  process.start_ticks = StartTicks(pid);
  return process;
}

// The next process gets this number, if it is free and nobody else starts one; root's own right.
bool SetNextPid(pid_t pid) {
  std::ofstream last("/proc/sys/kernel/ns_last_pid");
  last << pid - 1 << std::flush;
  return last.good();
}

// A process of this number, after that process has ended.
std::optional<pid_t> StartUnderNumber(pid_t pid) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (!SetNextPid(pid)) return std::nullopt;
    const pid_t child = StartVictim();
    if (child == pid) return child;
    EndOf(child);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("A signal reaches the process that was looked at") {
  const pid_t child = StartVictim();
  const auto handle = ProcessHandle::Open(ProcessOf(child));
  REQUIRE(handle.ok());
  CHECK(handle->HoldsNumber());
  CHECK(handle->Signal(SIGQUIT));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT));
  CHECK_FALSE(handle->HoldsNumber());
  CHECK_FALSE(handle->Signal(SIGQUIT));
}

TEST_CASE("A number whose process is another one is refused") {
  const pid_t child = StartVictim();
  Process before = ProcessOf(child);
  before.start_ticks -= 1;
  CHECK_FALSE(ProcessHandle::Open(before).ok());
  CHECK(EndOf(child) == SIGKILL);
  CHECK_FALSE(ProcessHandle::Open(before).ok());
  CHECK(StartTicks(child) == 0);
}

TEST_CASE("A process that got the number meanwhile gets no signal") {
  const pid_t first = StartVictim();
  const auto handle = ProcessHandle::Open(ProcessOf(first));
  REQUIRE(handle.ok());
  usleep(50'000);  // start times are known to 10 ms
  CHECK(EndOf(first) == SIGKILL);
  const auto second = StartUnderNumber(first);
  if (!second) {
    WARN("the next process's number cannot be chosen here");
    return;
  }
  CHECK_FALSE(handle->HoldsNumber());
  CHECK_FALSE(handle->Signal(SIGQUIT));
  usleep(20'000);
  CHECK(EndOf(*second) == SIGKILL);  // not SIGQUIT
}

}  // namespace heaprec::tools
