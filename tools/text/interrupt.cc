#include "tools/text/interrupt.h"

#include <csignal>

namespace heaprec::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The work that is to be finished may hang. A terminal that is closed sends several SIGHUP.
void Note(int signal) {
  if (interrupted != 0 && signal != SIGHUP) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    (void)raise(signal);  // comes once this handler has returned
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
