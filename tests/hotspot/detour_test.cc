#include "recorder/arch/detour.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "recorder/arch/code_patch.h"
#include "recorder/arch/x86_64/trap.h"

// Targets with prologues of known bytes. Each adds its second argument to the word behind the first and returns the
// sum.
extern "C" {
int64_t PlainTarget(int64_t* sum, int64_t addend);
int64_t EndbrTarget(int64_t* sum, int64_t addend);
int64_t RelativeTarget(int64_t* sum, int64_t addend);
int64_t BranchTarget(int64_t* sum, int64_t addend);
int64_t TrapTarget(int64_t* sum, int64_t addend);
int64_t HammeredTarget(int64_t* sum, int64_t addend);
extern int64_t relative_calls;
}
asm(R"(
  .text
  .macro target name
  .p2align 4
  .globl \name
\name:
  .endm
  .macro add_and_return
  mov %rsi, %rax
  lock xadd %rax, (%rdi)
  add %rsi, %rax
  .endm
  target PlainTarget
  push %rbp
  mov %rsp, %rbp
  sub $16, %rsp
  add_and_return
  leave
  ret
  target EndbrTarget
  endbr64
  add_and_return
  ret
  target RelativeTarget
  lea relative_calls(%rip), %rdx
  lock incq (%rdx)
  add_and_return
  ret
  target BranchTarget
  test %rdi, %rdi
  je 1f
  add_and_return
1:
  ret
  target TrapTarget
  int3
  mov %rsi, %rax
  ret
  target HammeredTarget
  push %rbp
  nop
  push %rbx
  nop
  nop
  nop
  add_and_return
  pop %rbx
  pop %rbp
  ret
  .data
  .p2align 3
  .globl relative_calls
relative_calls:
  .quad 0
  .text
)");

namespace heaprec::arch {
namespace {

using Target = int64_t (*)(int64_t*, int64_t);

std::atomic<Target> original{nullptr};
std::atomic<int64_t> diverted{0};

int64_t Replacement(int64_t* sum, int64_t addend) {
  diverted.fetch_add(1, std::memory_order_relaxed);
  return original.load(std::memory_order_relaxed)(sum, addend);
}

const void* const kReplacement = reinterpret_cast<const void*>(&Replacement);

Result<Detour> Prepare(Target target) {
  auto detour = Detour::Prepare(reinterpret_cast<uintptr_t>(target), kReplacement);
  if (detour) original = detour->OriginalAs<Target>();
  return detour;
}

// Calls through a volatile pointer, so that the compiler knows nothing of the callee.
int64_t Call(Target target, int64_t* sum, int64_t addend) {
  Target volatile pointer = target;
  return pointer(sum, addend);
}

TEST_CASE("A function is detoured, still works, and gets its own bytes back") {
  for (const Target target : {PlainTarget, EndbrTarget, RelativeTarget}) {
    uint8_t before[16];
    uint8_t after[16];
    std::memcpy(before, reinterpret_cast<const void*>(target), sizeof before);
    auto detour = Prepare(target);
    INFO((detour ? "" : detour.error().message));
    REQUIRE(detour.ok());
    int64_t sum = 1;
    diverted = 0;
    CHECK(detour->OriginalAs<Target>()(&sum, 2) == 3);  // before it is installed
    CHECK(Call(target, &sum, 4) == 7);
    CHECK(diverted == 0);

    REQUIRE(detour->Install().ok());
    CHECK(detour->installed());
    CHECK(detour->Install().ok());  // again: nothing to do
    CHECK(Call(target, &sum, 8) == 15);
    CHECK(diverted == 1);
    CHECK(sum == 15);

    REQUIRE(detour->Remove().ok());
    CHECK_FALSE(detour->installed());
    CHECK(Call(target, &sum, 16) == 31);
    CHECK(diverted == 1);
    std::memcpy(after, reinterpret_cast<const void*>(target), sizeof after);
    CHECK(std::memcmp(before, after, sizeof before) == 0);
    const auto mapping = RegionOf(reinterpret_cast<uintptr_t>(target));
    REQUIRE(mapping.has_value());
    CHECK(mapping->protection == (PROT_READ | PROT_EXEC));
  }
  CHECK(relative_calls == 4);
}

TEST_CASE("An endbr64 stays before the jump") {
  auto detour = Prepare(EndbrTarget);
  REQUIRE(detour.ok());
  REQUIRE(detour->Install().ok());
  const auto* const bytes = reinterpret_cast<const uint8_t*>(EndbrTarget);
  CHECK(bytes[0] == 0xf3);
  CHECK(bytes[3] == 0xfa);
  CHECK(bytes[4] == 0xe9);
  REQUIRE(detour->Remove().ok());
}

TEST_CASE("Functions that cannot be moved are refused with a reason and stay unchanged") {
  const auto branch = Prepare(BranchTarget);
  REQUIRE_FALSE(branch.ok());
  CHECK(branch.error().message.find("je") != std::string::npos);
  const auto trap = Prepare(TrapTarget);
  REQUIRE_FALSE(trap.ok());
  CHECK(trap.error().message.find("int3") != std::string::npos);
  int64_t data[4] = {};
  CHECK_FALSE(Detour::Prepare(reinterpret_cast<uintptr_t>(data), kReplacement).ok());
  CHECK_FALSE(Detour::Prepare(16, kReplacement).ok());
  int64_t sum = 1;
  CHECK(Call(BranchTarget, &sum, 2) == 3);
}

TEST_CASE("A function that was detoured by other code is not changed") {
  auto first = Prepare(PlainTarget);
  REQUIRE(first.ok());
  auto second = Prepare(PlainTarget);
  REQUIRE(second.ok());
  REQUIRE(first->Install().ok());
  original = first->OriginalAs<Target>();
  CHECK_FALSE(second->Install().ok());
  CHECK_FALSE(Prepare(PlainTarget).ok());  // starts with a jump now
  int64_t sum = 0;
  CHECK(Call(PlainTarget, &sum, 5) == 5);
  REQUIRE(first->Remove().ok());
}

TEST_CASE("If the grace period fails, nothing is changed") {
  auto detour = Prepare(PlainTarget);
  REQUIRE(detour.ok());
  const GracePeriod never = {[](void*) { return false; }, nullptr};
  CHECK_FALSE(detour->Install(never).ok());
  CHECK_FALSE(detour->installed());
  diverted = 0;
  int64_t sum = 0;
  CHECK(Call(PlainTarget, &sum, 5) == 5);
  CHECK(diverted == 0);
  REQUIRE(detour->Install().ok());
  CHECK(Call(PlainTarget, &sum, 5) == 10);
  CHECK(diverted == 1);
  REQUIRE(detour->Remove().ok());
}

sigset_t OnlyTrap() {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  return trap;
}

TEST_CASE("While a thread keeps SIGTRAP blocked nothing is patched, because the kernel would end the process") {
  auto detour = Prepare(PlainTarget);
  REQUIRE(detour.ok());
  const sigset_t trap = OnlyTrap();
  REQUIRE(pthread_sigmask(SIG_BLOCK, &trap, nullptr) == 0);
  const auto refused = detour->Install();
  REQUIRE(pthread_sigmask(SIG_UNBLOCK, &trap, nullptr) == 0);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("SIGTRAP") != std::string::npos);
  CHECK(detour->Install().ok());
  CHECK(detour->Remove().ok());
}

// A process may be sampled as a program, too (signal_masked_thread.h).
TEST_CASE("A thread of the agent may block SIGTRAP, because it executes nothing that is patched") {
  auto detour = Prepare(PlainTarget);
  REQUIRE(detour.ok());
  const sigset_t trap = OnlyTrap();
  std::promise<void> is_blocked, is_over;
  std::thread agent([&] {
    pthread_setname_np(pthread_self(), "heaprec-drain");
    pthread_sigmask(SIG_BLOCK, &trap, nullptr);
    is_blocked.set_value();
    is_over.get_future().wait();
  });
  is_blocked.get_future().wait();
  const bool is_installed = detour->Install().ok();
  is_over.set_value();
  agent.join();
  REQUIRE(is_installed);
  CHECK(detour->Remove().ok());
}

struct Hammer {
  static constexpr int kThreads = 3;
  alignas(64) std::atomic<int64_t> rounds[kThreads] = {};
  std::atomic<bool> stop{false};
  int64_t sum = 0;
  std::atomic<int64_t> wrong{0};
};

// Each thread has begun a call after we looked: none stands where it stood before.
bool WaitForRounds(void* context) {
  auto* const hammer = static_cast<Hammer*>(context);
  for (auto& rounds : hammer->rounds)
    for (const int64_t seen = rounds; rounds < seen + 2;) std::this_thread::yield();
  return true;
}

TEST_CASE("A thousand cycles under threads that call the function constantly lose and repeat no call") {
  auto detour = Prepare(HammeredTarget);
  REQUIRE(detour.ok());
  diverted = 0;
  Hammer hammer;
  std::vector<std::thread> threads;
  for (auto& rounds : hammer.rounds) {
    threads.emplace_back([&hammer, &rounds] {
      while (!hammer.stop) {
        const int64_t before = __atomic_load_n(&hammer.sum, __ATOMIC_RELAXED);
        hammer.wrong += Call(HammeredTarget, &hammer.sum, 3) < before + 3;
        if (rounds.fetch_add(1) % 256 == 0) std::this_thread::yield();  // else the others wait for a whole time slice
      }
    });
  }
  int failures = 0;
  for (int i = 0; i < 1000; ++i) {
    failures += !detour->Install({WaitForRounds, &hammer}).ok();
    failures += !detour->Remove().ok();
  }
  hammer.stop = true;
  for (std::thread& thread : threads) thread.join();
  int64_t calls = 0;
  for (const auto& rounds : hammer.rounds) calls += rounds;
  CHECK(failures == 0);
  CHECK(hammer.wrong == 0);
  CHECK(hammer.sum == 3 * calls);
  CHECK((diverted > 0 && diverted <= calls));
}

std::atomic<int> foreign_traps{0};

TEST_CASE("Other traps are passed to the previous handler") {
  auto detour = Prepare(PlainTarget);
  REQUIRE(detour.ok());
  struct sigaction before = {};
  struct sigaction other = {};
  other.sa_handler = [](int) { ++foreign_traps; };
  REQUIRE(sigaction(SIGTRAP, &other, &before) == 0);
  REQUIRE(detour->Install().ok());  // takes the signal from it
  asm volatile("int3");
  CHECK(foreign_traps == 1);
  raise(SIGTRAP);
  CHECK(foreign_traps == 2);
  REQUIRE(detour->Remove().ok());
  REQUIRE(sigaction(SIGTRAP, &before, nullptr) == 0);
}

// How a child process ends that runs `body`.
template <typename Body>
int StatusOf(const Body& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

bool DiedOfTrap(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP; }

TEST_CASE("An unhandled trap ends the process as without heaprec") {
  CHECK(DiedOfTrap(StatusOf([] {
    signal(SIGTRAP, SIG_DFL);
    if (TakeTraps()) asm volatile("int3");
  })));
  CHECK(DiedOfTrap(StatusOf([] {
    signal(SIGTRAP, SIG_IGN);
    if (TakeTraps()) asm volatile("int3");  // the kernel does not ignore these either
  })));
  CHECK(StatusOf([] {
          signal(SIGTRAP, SIG_IGN);
          if (TakeTraps()) raise(SIGTRAP);
        }) == 0);
}

TEST_CASE("Two handlers that pass a trap to each other do not loop") {
  CHECK(DiedOfTrap(StatusOf([] {
    static struct sigaction ours;
    struct sigaction other = {};
    other.sa_flags = SA_SIGINFO;
    other.sa_sigaction = [](int number, siginfo_t* info, void* context) { ours.sa_sigaction(number, info, context); };
    signal(SIGTRAP, SIG_DFL);
    if (!TakeTraps() || sigaction(SIGTRAP, &other, &ours) != 0 || !TakeTraps()) _exit(1);
    raise(SIGTRAP);
  })));
}

TEST_CASE("A page near code is within reach and is not used for anything else") {
  const auto code = reinterpret_cast<uintptr_t>(PlainTarget);
  std::vector<uint8_t*> pages;
  for (int i = 0; i < 100; ++i) {
    const auto page = MapPageNear(code, uintptr_t{1} << 30);
    REQUIRE(page.ok());
    const auto address = reinterpret_cast<uintptr_t>(*page);
    CHECK((address > code ? address - code : code - address) < (uintptr_t{1} << 31));
    std::memset(*page, i, PageSize());
    pages.push_back(*page);
  }
  for (int i = 0; i < 100; ++i) CHECK(pages[static_cast<size_t>(i)][PageSize() - 1] == i);
  for (uint8_t* const page : pages) munmap(page, PageSize());
}

}  // namespace
}  // namespace heaprec::arch
