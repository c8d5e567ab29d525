#include "recorder/agent/program/last_thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/descriptors.h"
#include "recorder/arch/agent_threads.h"

namespace heaprec::agent {
namespace {

pid_t watched = 0;  // pid of this process; a forked child has another one
void (*end_recording)() = nullptr;
sigset_t signals_of_main;
sem_t decided;
std::atomic<bool> main_has_ended{false}, exits{false}, is_over{false};

void* ExitAsLast(void*) {
  pthread_setname_np(pthread_self(), "heaprec-exit");
  while (sem_wait(&decided) != 0) {
  }
  if (!exits.load()) return nullptr;
  pthread_sigmask(SIG_SETMASK, &signals_of_main, nullptr);
  exit(0);
}

// Starts a thread for the program's exit handlers. It has the program's descriptors (the drain has others), signal mask
// and locale, and a stack of the usual size.
bool StartExitThread() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_of_main);  // inherited by the new thread
  pthread_t thread{};
  const bool is_started = pthread_create(&thread, nullptr, ExitAsLast, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &signals_of_main, nullptr);
  if (is_started) pthread_detach(thread);
  return is_started;
}

void NoteEndOfMain(void*) {
  if (getpid() != watched || is_over.load()) return;
  if (!StartExitThread()) return end_recording();
  main_has_ended.store(true);
}

// Recognizes the thread names given by ExitAsLast and the callers of StartSignalMaskedThread.
bool IsAgentThread(const char* task) {
  std::string name;
  std::getline(std::ifstream(std::string("/proc/self/task/") + task + "/comm"), name);
  return name.starts_with(arch::kAgentThreadPrefix);
}

// Whether `is_one` is false for each thread of the process. Returns false if the threads cannot be listed.
template <typename IsOne>
bool NoTask(IsOne is_one) {
  const GuardedFd tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool is_found = false;
  const bool is_complete = ForEachEntry(tasks.number(), [&](const char* task) {
    is_found = task[0] != '.' && is_one(task);
    return !is_found;
  });
  return is_complete && !is_found;
}

}  // namespace

void WatchMainThread(void (*end)()) {
  pthread_key_t key{};
  if (sem_init(&decided, 0, 0) != 0 || pthread_key_create(&key, NoteEndOfMain) != 0) return;
  watched = getpid();
  end_recording = end;
  pthread_setspecific(key, &watched);  // any value except null: then the key's destructor runs when the thread ends
}

void StopWatchingMainThread() {
  is_over.store(true);
  if (watched != 0) sem_post(&decided);
}

bool OnlyAgentThreadsLeft() {
  if (!main_has_ended.load(std::memory_order_relaxed)) return false;
  const std::string main = std::to_string(getpid());
  return NoTask([&](const char* task) { return task != main && !IsAgentThread(task); });
}

bool IsOnlyProgramThread() {
  const std::string own = std::to_string(syscall(SYS_gettid));
  return NoTask([&](const char* task) { return task != own && !IsAgentThread(task); });
}

bool WaitForAgentThreads() {
  constexpr int kTries = 5000;
  constexpr timespec kBetween{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (NoTask(IsAgentThread)) return true;
    nanosleep(&kBetween, nullptr);
  }
  return false;
}

void ExitProcess() {
  if (!exits.exchange(true)) sem_post(&decided);
}

}  // namespace heaprec::agent
