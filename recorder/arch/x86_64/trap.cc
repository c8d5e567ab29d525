#include "recorder/arch/x86_64/trap.h"

#include <dirent.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <string_view>

#include "recorder/arch/agent_threads.h"

namespace heaprec::arch {
namespace {

struct Site {
  std::atomic<uintptr_t> address{0};  // stored with release after `to`; pairs with the acquire in Find
  std::atomic<uintptr_t> to{0};
};

constexpr int kMaxSites = 64;
Site sites[kMaxSites];

// The handlers that were active before each installation of ours. An entry is written once, before `handlers_taken`
// counts it (pairs with the acquire in OnTrap): a thread may be in our handler while it is installed again.
constexpr size_t kMaxTakes = 32;
struct sigaction handlers[kMaxTakes] = {};
std::atomic<size_t> handlers_taken{0};

// initial-exec: used inside a signal handler, where the dynamic model might allocate.
thread_local bool chaining __attribute__((tls_model("initial-exec"))) = false;

uintptr_t Find(uintptr_t address) {
  for (const Site& site : sites) {
    const uintptr_t known = site.address.load(std::memory_order_acquire);
    if (known == 0) return 0;
    if (known == address) return site.to.load(std::memory_order_relaxed);
  }
  return 0;
}

void Chain(const struct sigaction& to, int signal, siginfo_t* info, void* context) {
  if ((to.sa_flags & SA_SIGINFO) != 0) {
    to.sa_sigaction(signal, info, context);
  } else if (to.sa_handler == SIG_IGN && info->si_code <= 0) {
    return;  // sent by a process; a trap caused by an instruction cannot be ignored
  } else if (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN) {
    struct sigaction fallback = {};
    fallback.sa_handler = SIG_DFL;
    sigaction(SIGTRAP, &fallback, nullptr);
    raise(SIGTRAP);  // delivered when this handler returns
  } else {
    to.sa_handler(signal);
  }
}

void OnTrap(int signal, siginfo_t* info, void* context) {
  auto* const machine = static_cast<ucontext_t*>(context);
  // The saved RIP is after the one-byte INT3.
  greg_t& rip = machine->uc_mcontext.gregs[REG_RIP];
  if (info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT) {
    if (const uintptr_t to = Find(static_cast<uintptr_t>(rip) - 1); to != 0) {
      rip = static_cast<greg_t>(to);
      return;
    }
  }
  // A library that was installed after us may call our handler as its previous one: do not pass the signal around
  // forever.
  if (chaining) return Chain(handlers[0], signal, info, context);
  chaining = true;
  // TakeTraps counts the previous handler before it installs ours.
  Chain(handlers[handlers_taken.load(std::memory_order_acquire) - 1], signal, info, context);
  chaining = false;
}

bool BlocksTrap(const std::string& status_path) {
  std::ifstream status(status_path);
  if (!status) return false;  // the thread has ended
  for (std::string line; std::getline(status, line);) {
    // If the process is also sampled as a program, the agent's threads for that block SIGTRAP. They execute no code of
    // the JVM. No other thread of the agent blocks SIGTRAP.
    if (line.starts_with("Name:\t") && std::string_view(line).substr(6).starts_with(kAgentThreadPrefix)) return false;
    if (line.compare(0, 7, "SigBlk:") == 0)
      return (std::strtoull(line.c_str() + 7, nullptr, 16) >> (SIGTRAP - 1) & 1) != 0;
  }
  return false;
}

bool SomeThreadBlocksNow() {
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return true;
  bool blocked = false;
  while (const dirent* const task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    blocked = blocked || BlocksTrap(std::string("/proc/self/task/") + task->d_name + "/status");
  }
  closedir(tasks);
  return blocked;
}

}  // namespace

bool TakeTraps() {
  struct sigaction now = {};
  if (sigaction(SIGTRAP, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnTrap) return true;
  const size_t take = handlers_taken.load(std::memory_order_relaxed);
  if (take == kMaxTakes) return false;  // some library replaces our handler each time
  handlers[take] = now;
  handlers_taken.store(take + 1, std::memory_order_release);
  struct sigaction ours = {};
  ours.sa_sigaction = OnTrap;
  // Not deferred: otherwise a thread inside the handler would look like one that blocks traps.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
  return sigaction(SIGTRAP, &ours, nullptr) == 0;
}

bool Redirect(uintptr_t address, const void* to) {
  for (Site& site : sites) {
    const uintptr_t known = site.address.load(std::memory_order_relaxed);
    if (known != 0 && known != address) continue;
    site.to.store(reinterpret_cast<uintptr_t>(to), std::memory_order_relaxed);
    site.address.store(address, std::memory_order_release);
    return true;
  }
  return false;
}

bool SomeThreadBlocksTraps() {
  // In libc, a new thread blocks all signals for a moment.
  constexpr int kAttempts = 20;
  for (int i = 0; i < kAttempts; ++i) {
    if (!SomeThreadBlocksNow()) return false;
    usleep(1000);
  }
  return true;
}

}  // namespace heaprec::arch
