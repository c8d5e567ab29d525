// Stacks by .eh_frame, against glibc's backtrace() at the same place.
#include "recorder/unwind/cfi_cache.h"

#include <alloca.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

namespace heaprec::native {
namespace {

constexpr size_t kMax = 64;

struct Stacks {
  std::vector<uintptr_t> ours, theirs;
};

// Both of its caller: pcs of this very function differ.
__attribute__((noinline)) Stacks Look(CfiCache* rules) {
  Stacks stacks;
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  Registers registers;
  registers.pc = frame[1];
  registers.bp = frame[0];
  registers.sp = reinterpret_cast<uintptr_t>(frame + 2);
  uintptr_t pcs[kMax];
  stacks.ours.assign(pcs, pcs + Unwind(rules, registers, pcs));
  void* addresses[kMax + 2];
  const int count = backtrace(addresses, kMax + 2);
  // In front of the caller stand this function and, under a sanitizer, what it puts in backtrace's place.
  const auto* const end = addresses + count;
  const auto* const first =
      std::find(addresses + 1, std::min(addresses + 3, addresses + count), reinterpret_cast<void*>(registers.pc));
  std::transform(first, end, std::back_inserter(stacks.theirs),
                 [](void* pc) { return reinterpret_cast<uintptr_t>(pc); });
  return stacks;
}

void RequireSame(const Stacks& stacks, size_t least) {
  CHECK(stacks.ours.size() >= least);
  CHECK(stacks.ours == stacks.theirs);
}

CfiCache& Rules() {
  static const std::unique_ptr<CfiCache> rules = std::make_unique<CfiCache>();
  return *rules;
}

int (*volatile deeper)(int, Stacks*);  // so that the recursion is not made a loop

__attribute__((noinline)) int Deep(int depth, Stacks* stacks) {
  if (depth == 0) {
    *stacks = Look(&Rules());
    return 0;
  }
  return deeper(depth - 1, stacks) + depth;
}

// Of a size that only the running program knows: its frame is found through bp.
__attribute__((noinline)) int Allocates(int bytes, Stacks* stacks) {
  auto* const memory = static_cast<volatile char*>(alloca(static_cast<size_t>(bytes)));
  memory[bytes - 1] = 1;
  return Deep(3, stacks) + memory[bytes - 1];
}

Stacks of_comparison;
int Compare(const void* a, const void* b) {
  if (of_comparison.ours.empty()) of_comparison = Look(&Rules());
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

Stacks of_signal;
void OnSignal(int) { of_signal = Look(&Rules()); }

}  // namespace

TEST_CASE("A stack equals that of backtrace(), in code without frame pointers") {
  deeper = Deep;
  Stacks stacks;
  CHECK(Deep(20, &stacks) == 210);
  RequireSame(stacks, 22);
  CHECK(Deep(20, &stacks) == 210);  // rules are known now
  RequireSame(stacks, 22);
}

TEST_CASE("Frames of unknown size are unwound by their frame pointer") {
  deeper = Deep;
  for (const int bytes : {1, 100, 5000}) {
    Stacks stacks;
    CHECK(Allocates(bytes, &stacks) == 7);
    RequireSame(stacks, 6);
  }
}

TEST_CASE("Frames of other libraries are unwound: libc, libstdc++") {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof numbers[0], Compare);
  RequireSame(of_comparison, 4);
  Stacks stacks;
  const std::function<void()> function = [&] { std::thread([&] { stacks = Look(&Rules()); }).join(); };
  function();
  RequireSame(stacks, 3);
}

TEST_CASE("A stack ends at a signal's frame, and has no wrong frame before it") {
  std::signal(SIGUSR1, OnSignal);
  std::raise(SIGUSR1);
  REQUIRE(of_signal.ours.size() >= 2);
  REQUIRE(of_signal.ours.size() <= of_signal.theirs.size());
  CHECK(std::equal(of_signal.ours.begin(), of_signal.ours.end(), of_signal.theirs.begin()));
}

TEST_CASE("An address in no module has no rule, and a stack is truncated at the maximum depth") {
  const auto memory = std::make_unique<char[]>(64);
  CHECK(FindCfiRow(reinterpret_cast<uintptr_t>(memory.get())) == CfiRow{});
  CHECK(FindCfiRow(0) == CfiRow{});
  uintptr_t one[1];
  CHECK(Unwind(&Rules(), {reinterpret_cast<uintptr_t>(memory.get()), 8, 8}, one) == 1);
  uintptr_t many[4];
  CHECK(Unwind(&Rules(), {reinterpret_cast<uintptr_t>(memory.get()), 8, 8}, many) == 1);
}

TEST_CASE("A rule that leads out of the stack reads no unreadable memory") {
  deeper = Deep;
  Stacks stacks;
  CHECK(Deep(3, &stacks) == 6);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kBytes = 16 << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory, page, PROT_READ | PROT_WRITE) == 0);
  const auto end = reinterpret_cast<uintptr_t>(memory) + page;
  errno = 7;
  for (const uintptr_t sp : {end - 8, end, end + page, uintptr_t{1} << 60, UINTPTR_MAX - 7}) {
    CAPTURE(sp);
    for (const uintptr_t pc : stacks.ours) {
      uintptr_t pcs[4];
      CHECK(Unwind(&Rules(), {pc, sp, sp}, pcs) == 1);
    }
  }
  CHECK(errno == 7);
  munmap(memory, kBytes);
}

// The stack of a thread that has ended, or of a coroutine, was readable before and is unmapped now.
TEST_CASE("After a step out of the stack, a page that was readable before is checked again") {
  deeper = Deep;
  Stacks stacks;
  CHECK(Allocates(100, &stacks) == 7);
  const auto has_frame_pointer = [](uintptr_t pc) { return FindCfiRow(pc - 1).base == CfiRow::Base::kBp; };
  const auto pc = std::find_if(stacks.ours.begin(), stacks.ours.end(), has_frame_pointer);
  REQUIRE(pc != stacks.ours.end());
  constexpr size_t kBytes = 1 << 20, kAt = 1 << 19;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const auto frame = reinterpret_cast<uintptr_t>(memory) + kAt;
  uintptr_t word = 1;
  REQUIRE(Rules().Read(frame, &word, /*trusts_cache=*/true));
  CHECK(word == 0);
  REQUIRE(munmap(memory, kBytes) == 0);
  uintptr_t pcs[4];
  CHECK(Unwind(&Rules(), {*pc, frame - kAt, frame}, pcs) == 1);
}

// Who asks for memory may hold what that thread waits for.
TEST_CASE("Rules are found while another thread holds the loader's lock") {
  static std::atomic<bool> has_list, has_rule;
  static bool came_in_time;
  std::thread other([] {
    dl_iterate_phdr(
        [](dl_phdr_info*, size_t, void*) {
          has_list = true;
          for (int i = 0; i < 2000 && !has_rule; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          came_in_time = has_rule;
          return 1;
        },
        nullptr);
  });
  while (!has_list) std::this_thread::yield();
  const CfiRow rule = FindCfiRow(reinterpret_cast<uintptr_t>(&qsort) + 1);
  has_rule = true;
  other.join();
  CHECK(came_in_time);
  CHECK(rule.base == CfiRow::Base::kSp);
}

TEST_CASE("Rules can be removed from the cache") {
  CfiCache& rules = Rules();
  const auto pc = reinterpret_cast<uintptr_t>(&qsort) + 1;
  const CfiRow rule = rules.At(pc);
  CHECK(rule == FindCfiRow(pc));
  rules.Forget();
  CHECK(rules.At(pc) == rule);
}

}  // namespace heaprec::native
