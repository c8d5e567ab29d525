#include "tools/text/interrupt.h"

#include <csignal>

namespace heaprec::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void CatchSignals(std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : signals) sigaction(signal, &action, nullptr);
}

bool IsInterrupted() { return interrupted != 0; }

}  // namespace heaprec::tools
