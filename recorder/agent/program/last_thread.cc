#include "recorder/agent/program/last_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

std::atomic<bool> main_has_ended{false};

// As StartSignalMaskedThread's callers name them.
bool IsOurs(const std::filesystem::path& task) {
  std::string name;
  std::getline(std::ifstream(task / "comm"), name);
  return name.starts_with("heaprec-");
}

}  // namespace

void WatchMainThread() {
  pthread_key_t key{};
  if (pthread_key_create(&key, [](void*) { main_has_ended.store(true); }) != 0) return;
  pthread_setspecific(key, &main_has_ended);  // any value but null: the thread's end then comes by
}

bool OnlyAgentThreadsLeft() {
  if (!main_has_ended.load(std::memory_order_relaxed)) return false;
  const std::string main = std::to_string(getpid());
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (task.path().filename() != main && !IsOurs(task.path())) return false;
  }
  return !error;
}

void ExitProcess() {
  static std::atomic<bool> is_under_way{false};
  if (is_under_way.exchange(true)) return;
  auto thread = writer::StartSignalMaskedThread(
      "heaprec-exit", [](void*) { exit(0); }, nullptr, nullptr);
  if (thread.ok()) pthread_detach(*thread);
}

}  // namespace heaprec::agent
