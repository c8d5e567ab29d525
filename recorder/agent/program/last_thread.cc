#include "recorder/agent/program/last_thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "recorder/buffer/folder_entries.h"
#include "recorder/buffer/guarded_fd.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

pid_t watched = 0;  // not a child of fork
sem_t decided;
std::atomic<bool> main_has_ended{false}, exits{false}, is_over{false};

// With the program's descriptors, which what it registered for its exit may write to: the drain has others.
void WaitForLast(void*) {
  while (sem_wait(&decided) != 0) {
  }
  if (exits.load()) exit(0);
}

void NoteEndOfMain(void*) {
  if (getpid() != watched || is_over.load()) return;
  const auto thread = writer::StartSignalMaskedThread("heaprec-exit", WaitForLast, nullptr, nullptr);
  if (!thread.ok()) return;
  pthread_detach(*thread);
  main_has_ended.store(true);
}

// As StartSignalMaskedThread's callers name them.
bool IsAgentThread(const char* task) {
  std::string name;
  std::getline(std::ifstream(std::string("/proc/self/task/") + task + "/comm"), name);
  return name.starts_with("heaprec-");
}

// Whether `is_one` is false for each thread of the process; false if they cannot be listed.
template <typename IsOne>
bool NoTask(IsOne is_one) {
  const buffer::GuardedFd tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool is_found = false;
  const bool is_complete = buffer::ForEachEntry(tasks.number(), [&](const char* task) {
    is_found = task[0] != '.' && is_one(task);
    return !is_found;
  });
  return is_complete && !is_found;
}

}  // namespace

void WatchMainThread() {
  pthread_key_t key{};
  if (sem_init(&decided, 0, 0) != 0 || pthread_key_create(&key, NoteEndOfMain) != 0) return;
  watched = getpid();
  pthread_setspecific(key, &watched);  // any value but null: the thread's end then comes by
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
