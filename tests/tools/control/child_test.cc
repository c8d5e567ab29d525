// Commands that stop, and children that nobody else reaps.
#include "tools/control/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

namespace heaprec::tools {
namespace {

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
