#include "tools/text/interrupt.h"

#include <csignal>
#include <ctime>

namespace heaprec::tools {
namespace {

constexpr long kSameRequestMs = 500;

volatile std::sig_atomic_t interrupted = 0;
volatile long interrupted_ms = 0;

long NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Finishing the work may hang. `timeout`, and wrappers that pass on a terminal's signal, send the same request twice; a
// terminal that is closed sends several SIGHUP.
void Note(int signal) {
  const long now_ms = NowMs();
  if (interrupted == 0) interrupted_ms = now_ms;
  if (now_ms - interrupted_ms >= kSameRequestMs && signal != SIGHUP) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    (void)raise(signal);  // delivered after this handler has returned
  }
  interrupted = 1;
}

}  // namespace

void CatchSignals(std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = Note;
  for (const int signal : signals) sigaction(signal, &action, nullptr);
}

bool IsInterrupted() { return interrupted != 0; }

}  // namespace heaprec::tools
