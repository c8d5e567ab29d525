#include "recorder/writer/signal_masked_thread.h"

#include <fmt/format.h>
#include <locale.h>
#include <signal.h>

#include <cstring>
#include <memory>
#include <string>

namespace heaprec::writer {
namespace {

constexpr size_t kStackBytes = 512 << 10;

struct Start {
  const char* name;
  void (*body)(void*);
  void (*failed)(void*);
  void* argument;
};

void* Enter(void* start) {
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  // By the thread itself: for another thread libc opens a file, whose number the program may just have closed.
  pthread_setname_np(pthread_self(), own->name);
  // For strerror in any other language libc reads the environment, which the program may be changing just now.
  uselocale(newlocale(LC_ALL_MASK, "C", nullptr));
  // Nothing may leave this thread: an exception that did would end the JVM. Out of memory, it just ends.
  try {
    own->body(own->argument);
  } catch (...) {
    if (own->failed != nullptr) own->failed(own->argument);
  }
  return nullptr;
}

// All signals except those that a thread raises itself: faults must be delivered, and hooks are installed and removed
// with SIGTRAP.
sigset_t SignalsOfOthers() {
  sigset_t others;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&others, own);
  return others;
}

}  // namespace

format::Result<pthread_t> StartSignalMaskedThread(const char* name, void (*body)(void*), void (*failed)(void*),
                                                  void* argument) {
  auto start = std::make_unique<Start>(Start{name, body, failed, argument});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const sigset_t others = SignalsOfOthers();
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &others, &before);  // inherited by the new thread
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, Enter, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) return format::Error{fmt::format("no thread {}: {}", name, std::strerror(error))};
  (void)start.release();  // Enter's now
  return thread;
}

}  // namespace heaprec::writer
