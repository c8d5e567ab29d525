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
  bool is_without_jvm;
};

// initial-exec, like all others of the library: gold mixes up entries of two models.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_without_jvm = false;

void* Enter(void* start) {
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  is_without_jvm = own->is_without_jvm;
  // Called by the thread itself: for another thread libc opens a file, whose number the program may just have closed.
  pthread_setname_np(pthread_self(), own->name);
  // For strerror in another language libc reads the environment, which the program may be changing.
  uselocale(newlocale(LC_ALL_MASK, "C", nullptr));
  // No exception may leave this thread, because it would end the JVM. Out of memory, the thread just ends.
  try {
    own->body(own->argument);
  } catch (...) {
    if (own->failed != nullptr) own->failed(own->argument);
  }
  return nullptr;
}

// All signals except those that a thread raises itself: faults must be delivered, and hooks in a JVM are installed and
// removed with SIGTRAP. If another process sends a signal that all threads of the program block, this thread would
// receive it and end the program. SIGSEGV and SIGBUS are never blocked: the agent allocates with the program's malloc,
// which may handle faults of its own heap, and the kernel ends a process that blocks a fault.
sigset_t SignalsOfOthers(bool is_without_jvm) {
  sigset_t others;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS}) sigdelset(&others, own);
  if (is_without_jvm) return others;
  for (const int own : {SIGILL, SIGFPE, SIGTRAP}) sigdelset(&others, own);
  return others;
}

}  // namespace

Result<pthread_t> StartSignalMaskedThread(const char* name, void (*body)(void*), void (*failed)(void*), void* argument,
                                          Process process) {
  const bool without_jvm = process == Process::kWithoutJvm || is_without_jvm;
  auto start = std::make_unique<Start>(Start{name, body, failed, argument, without_jvm});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const sigset_t others = SignalsOfOthers(without_jvm);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &others, &before);  // inherited by the new thread
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, Enter, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) return Error{fmt::format("no thread {}: {}", name, std::strerror(error))};
  (void)start.release();  // owned by Enter now
  return thread;
}

}  // namespace heaprec::writer
