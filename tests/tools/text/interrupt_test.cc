// Signals to a process of its own, which says how it took them by its end.
#include "tools/text/interrupt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <initializer_list>

namespace heaprec::tools {
namespace {

constexpr int kInterrupted = 7, kUndisturbed = 8;

// The wait status of a process that gets these, one after the other.
int StatusAfter(std::initializer_list<int> signals, useconds_t pause_us = 600'000) {
  const pid_t child = fork();
  if (child == 0) {
    CatchSignals({SIGINT, SIGTERM, SIGHUP});
    for (const int signal : signals) {
      (void)raise(signal);
      usleep(pause_us);
    }
    _exit(IsInterrupted() ? kInterrupted : kUndisturbed);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

bool Exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
bool WasEnded(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

}  // namespace

TEST_CASE("A signal that is sent twice at once counts once") {
  // On a starved machine half a second may pass between the two.
  bool is_one = false;
  for (int i = 0; i < 5 && !is_one; ++i) is_one = Exited(StatusAfter({SIGTERM, SIGTERM, SIGINT}, 0), kInterrupted);
  CHECK(is_one);
}

TEST_CASE("The first signal is noted, a later one ends the process, and SIGHUP may be repeated") {
  CHECK(Exited(StatusAfter({}), kUndisturbed));
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
    CHECK(Exited(StatusAfter({first}), kInterrupted));
    CHECK(Exited(StatusAfter({first, SIGHUP, SIGHUP}), kInterrupted));
    CHECK(WasEnded(StatusAfter({first, SIGINT}), SIGINT));
    CHECK(WasEnded(StatusAfter({first, SIGTERM}), SIGTERM));
  }
}

}  // namespace heaprec::tools
