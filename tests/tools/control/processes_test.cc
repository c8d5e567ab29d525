// A process that must not be traced, and a number that a second process gets after the first one has ended.
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/tools/recording_fixture.h"
#include "tools/control/child.h"
#include "tools/control/live_recording.h"
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

// A process that only capabilities allow to look into.
pid_t StartProtected() {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1);
  close(ready[0]), close(ready[1]);
  return child;
}

// Several of them allow to read another process's memory map.
void DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  syscall(SYS_capset, &header, none);
}

// What LookAt says to a process of this user without capabilities.
std::string RefusalWithoutCapabilities(pid_t pid) {
  int said[2];
  REQUIRE(pipe(said) == 0);
  const pid_t child = fork();
  if (child == 0) {
    DropCapabilities();
    const auto process = LookAt(pid);
    const std::string text = process.ok() ? "no refusal" : process.error().message;
    (void)!write(said[1], text.data(), text.size());
    _exit(0);
  }
  close(said[1]);
  char text[1000];
  const ssize_t size = read(said[0], text, sizeof text);
  close(said[0]);
  waitpid(child, nullptr, 0);
  return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

}  // namespace

TEST_CASE("If a process must not be traced, the error gives advice") {
  const pid_t child = StartProtected();
  const std::string advice = geteuid() == 0
                                 ? "root needs CAP_SYS_PTRACE in the process's user namespace; a security module may "
                                   "also deny it"
                                 : "run heaprec as root";
  CHECK(RefusalWithoutCapabilities(child) ==
        "PID " + std::to_string(child) + ": cannot read its memory map (Permission denied); " + advice);
  EndOf(child);
}

TEST_CASE("A kernel thread is no JVM, and no permission changes that") {
  std::string name;
  std::getline(std::ifstream("/proc/2/comm"), name);
  if (name != "kthreadd" || geteuid() != 0) {
    WARN("needs root, and sight of the kernel's threads");
    return;
  }
  const auto process = LookAt(2);
  REQUIRE_FALSE(process.ok());
  CHECK(process.error().message == "PID 2: not a JVM: kthreadd has no memory of its own (a kernel thread?)");
}

TEST_CASE("A signal is sent to the inspected process") {
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

TEST_CASE("A process id that now belongs to another process is refused") {
  const pid_t child = StartVictim();
  Process before = ProcessOf(child);
  before.start_ticks -= 1;
  CHECK_FALSE(ProcessHandle::Open(before).ok());
  CHECK(EndOf(child) == SIGKILL);
  CHECK_FALSE(ProcessHandle::Open(before).ok());
  CHECK(StartTicks(child) == 0);
}

TEST_CASE("A process that got the id meanwhile gets no signal") {
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

namespace {

// Commands that stop, and children that nobody else reaps.

// How a process that runs `script` by RunChild changes first: the status of waitpid. Then it is ended.
int FirstChangeWith(const std::string& script) {
  const pid_t runner = fork();
  if (runner == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // as PID 1 is
    setpgid(0, 0);                     // as a shell's job has it; an orphaned group would not stop at all
    _exit(RunChild({"sh", "-c", script}, {}).code);
  }
  int status = 0, end = 0;
  REQUIRE(waitpid(runner, &status, WUNTRACED) == runner);
  if (!WIFSTOPPED(status)) return status;
  kill(runner, SIGKILL);
  REQUIRE(waitpid(runner, &end, 0) == runner);
  return status;
}

void CheckExit(int status, int code) {
  INFO("status of waitpid: " << status);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == code);
}

// Stops itself by a signal, and is continued by another process.
std::string StopsBy(const char* signal) {
  return "(while ! grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done; kill -CONT $$) & kill -" +
         std::string(signal) + " $$; exit 7";
}

}  // namespace

TEST_CASE("SIGSTOP and SIGCONT of a command stop only the command") { CheckExit(FirstChangeWith(StopsBy("STOP")), 7); }

TEST_CASE("If the terminal stops a command, we stop, too, so that a shell gets its terminal back") {
  const int status = FirstChangeWith(StopsBy("TSTP"));
  INFO("status of waitpid: " << status);
  CHECK(WIFSTOPPED(status));
  CHECK(WSTOPSIG(status) == SIGTSTP);
}

// 9: the orphan was still there after ten seconds.
TEST_CASE("Orphans that become our children are reaped while the command runs") {
  CheckExit(FirstChangeWith("orphan=$( (sh -c 'echo $$' &) ); for i in $(seq 1000); do "
                            "[ -e /proc/$orphan ] || exit 7; sleep 0.01; done; exit 9"),
            7);
}

}  // namespace heaprec::tools

// Recordings that a process has open; here that process is the test itself.
namespace heaprec::tools::testing {
namespace {

constexpr off_t kHuge = off_t{1} << 40;  // of holes

Process Ourselves() {
  auto process = LookAt(getpid());
  REQUIRE(process.ok());
  return *process;
}

Descriptor Open(const std::string& path) { return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC)); }

// A recording with one block and no end, whose header names that process.
void WriteRecording(const std::string& path, uint32_t pid) {
  format::FileHeader header = SomeHeader();
  header.pid = pid;
  RecordingFile file(path, header);
  file.Add(Event{});
  file.Flush();
}

}  // namespace

TEST_CASE("The recording of a process is found among its open files, with its counters") {
  const Directory folder;
  const auto pid = static_cast<uint32_t>(getpid());
  WriteRecording(folder / "other.hrec", pid + 1);
  std::ofstream(folder / "text") << "not a recording, but longer than the first bytes of one";
  const Descriptor other = Open(folder / "other.hrec"), text = Open(folder / "text");
  CHECK_FALSE(FindLiveRecording(Ourselves()));
  WriteRecording(folder / "rec.hrec", pid);
  const Descriptor held = Open(folder / "rec.hrec");
  const auto found = FindLiveRecording(Ourselves());
  REQUIRE(found);
  CHECK(found->path == folder / "rec.hrec");
  CHECK(found->bytes == std::filesystem::file_size(folder / "rec.hrec"));
  CHECK(found->counters.committed == 1);
  CHECK(found->recording->Next());
}

TEST_CASE("Only the first recording of a process is searched for") {
  const Directory folder;
  WriteRecording(folder / "rec.hrec", static_cast<uint32_t>(getpid()));
  const std::string one = Contents(folder / "rec.hrec");
  std::ofstream(folder / "rec.hrec", std::ios::binary | std::ios::app) << one;
  const Descriptor held = Open(folder / "rec.hrec");
  const auto found = FindLiveRecording(Ourselves());
  REQUIRE(found);
  CHECK(found->recording->others() == 0);
  CHECK(found->bytes == 2 * one.size());
}

TEST_CASE("A sparse file, or one without a recording's first bytes, is no recording") {
  const Directory folder;
  const std::string path = folder / "rec.hrec";
  WriteRecording(path, static_cast<uint32_t>(getpid()));
  const Descriptor held = Open(path);
  CHECK(*RecordingBytes(held) == std::filesystem::file_size(path));
  REQUIRE(truncate(path.c_str(), kHuge) == 0);
  CHECK(RecordingBytes(held).error().message.find("is sparse") != std::string::npos);
  CHECK_FALSE(FindLiveRecording(Ourselves()));  // at once
  REQUIRE(ftruncate(held.number(), 0) == 0);
  CHECK(RecordingBytes(held).error().message.find("not a heaprec recording") != std::string::npos);
  REQUIRE(ftruncate(held.number(), kHuge) == 0);
  CHECK(RecordingBytes(held).error().message.find("not a heaprec recording") != std::string::npos);
  CHECK_FALSE(FindLiveRecording(Ourselves()));
}

}  // namespace heaprec::tools::testing
