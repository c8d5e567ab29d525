// For --config=aarch64, run by tests/e2e/aarch64.sh.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "recorder/arch/detour.h"

// Each adds one to the word behind its first argument and returns its second. The entries are those that compilers
// write, or that cannot be moved.
extern "C" {
int64_t PlainTarget(std::atomic<int64_t>* count, int64_t value);
int64_t BtiTarget(std::atomic<int64_t>* count, int64_t value);
int64_t SignedTarget(std::atomic<int64_t>* count, int64_t value);
int64_t SignedByBTarget(std::atomic<int64_t>* count, int64_t value);
int64_t AdrTarget(std::atomic<int64_t>* count, int64_t value);
int64_t CbzTarget(std::atomic<int64_t>* count, int64_t value);
int64_t LiteralTarget(std::atomic<int64_t>* count, int64_t value);
}
asm(R"(
  .arch armv8.5-a
  .text
  .macro count_and_return
1: ldxr x2, [x0]
  add x2, x2, #1
  stxr w3, x2, [x0]
  cbnz w3, 1b
  mov x0, x1
  .endm
  .macro target name
  .p2align 4
  .globl \name
  .type \name, %function
\name:
  .endm
  target PlainTarget
  stp x29, x30, [sp, #-32]!
  count_and_return
  ldp x29, x30, [sp], #32
  ret
  target BtiTarget
  bti c
  stp x29, x30, [sp, #-32]!
  count_and_return
  ldp x29, x30, [sp], #32
  ret
  target SignedTarget
  paciasp
  stp x29, x30, [sp, #-32]!
  count_and_return
  ldp x29, x30, [sp], #32
  autiasp
  ret
  target SignedByBTarget
  pacibsp
  stp x29, x30, [sp, #-32]!
  count_and_return
  ldp x29, x30, [sp], #32
  autibsp
  ret
  target AdrTarget
  adr x2, AdrTarget
  count_and_return
  ret
  target CbzTarget
  cbz x0, 2f
  count_and_return
2: ret
  target LiteralTarget
  ldr x4, 3f
  count_and_return
  ret
  .p2align 3
3: .quad 0
)");

namespace heaprec::arch {
namespace {

using Target = int64_t (*)(std::atomic<int64_t>*, int64_t);

std::atomic<Target> original{nullptr};
std::atomic<int64_t> diverted{0};

int64_t Replacement(std::atomic<int64_t>* count, int64_t value) {
  diverted.fetch_add(1);
  return original.load()(count, value) + 1;
}

Result<Detour> Prepare(Target target) {
  auto detour = Detour::Prepare(reinterpret_cast<uintptr_t>(target), reinterpret_cast<const void*>(&Replacement));
  if (detour) original = detour->OriginalAs<Target>();
  return detour;
}

TEST_CASE("Each kind of function is detoured, its original stays callable, and it is restored") {
  for (const Target target : {&PlainTarget, &BtiTarget, &SignedTarget, &SignedByBTarget}) {
    std::atomic<int64_t> count{0};
    diverted = 0;
    auto detour = Prepare(target);
    REQUIRE(detour.ok());
    CHECK(target(&count, 5) == 5);
    REQUIRE(detour->Install().ok());
    CHECK(detour->installed());
    CHECK(target(&count, 5) == 6);
    CHECK(detour->OriginalAs<Target>()(&count, 5) == 5);
    REQUIRE(detour->Remove().ok());
    CHECK(target(&count, 5) == 5);
    CHECK(count == 4);
    CHECK(diverted == 1);
  }
}

TEST_CASE("A prologue that cannot be moved is refused, and stays unchanged") {
  for (const Target target : {&AdrTarget, &CbzTarget, &LiteralTarget}) {
    std::atomic<int64_t> count{0};
    const auto detour = Prepare(target);
    REQUIRE(!detour.ok());
    CHECK(detour.error().message.find("the function starts with 0x") == 0);
    CHECK(target(&count, 7) == 7);
    CHECK(count == 1);
  }
}

TEST_CASE("A function that was changed by other code is not restored") {
  auto first = Prepare(&PlainTarget);
  auto second = Prepare(&PlainTarget);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(first->Install().ok());
  CHECK(second->Install().error().message == "the function was changed by other code");
  REQUIRE(first->Remove().ok());
}

TEST_CASE("No word of executable code is written in place") {
  constexpr uint32_t kFunction[] = {0x91000021, 0x91000420, 0xd65f03c0};  // add x1, x1, #0; add x0, x1, #1; ret
  const int file = memfd_create("code", MFD_CLOEXEC);
  REQUIRE(write(file, kFunction, sizeof kFunction) == sizeof kFunction);
  // Shared: who stores through the mapping changes the file.
  void* const code = mmap(nullptr, sizeof kFunction, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  REQUIRE(code != MAP_FAILED);
  const auto target = reinterpret_cast<Target>(code);
  std::atomic<int64_t> count{0};
  diverted = 0;
  auto detour = Prepare(target);
  REQUIRE(detour.ok());
  REQUIRE(detour->Install().ok());
  CHECK(target(&count, 5) == 7);
  CHECK(diverted == 1);
  uint32_t kept[std::size(kFunction)] = {};
  REQUIRE(pread(file, kept, sizeof kept, 0) == sizeof kept);
  CHECK(std::memcmp(kept, kFunction, sizeof kept) == 0);
  REQUIRE(detour->Remove().ok());
  CHECK(target(&count, 5) == 6);
  munmap(code, sizeof kFunction);
  close(file);
}

TEST_CASE("Threads that run a function during patching always find it complete") {
  auto detour = Prepare(&PlainTarget);
  REQUIRE(detour.ok());
  std::atomic<int64_t> count{0}, calls{0}, wrong{0};
  std::atomic<bool> ends{false};
  diverted = 0;
  int64_t seen_diverted = 0;
  {
    std::vector<std::jthread> threads;
    std::atomic<int64_t> of_replacement{0};
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!ends) {
          const int64_t value = PlainTarget(&count, 5);
          calls.fetch_add(1);
          if (value == 6) of_replacement.fetch_add(1);
          if (value != 5 && value != 6) wrong.fetch_add(1);
        }
      });
    }
    while (calls < 100) std::this_thread::yield();
    for (int i = 0; i < 200; ++i) {
      REQUIRE(detour->Install().ok());
      const int64_t before = calls;
      while (calls < before + 10) std::this_thread::yield();
      REQUIRE(detour->Remove().ok());
    }
    ends = true;
    threads.clear();
    seen_diverted = of_replacement;
  }
  CHECK(wrong == 0);
  CHECK(count == calls);
  CHECK(diverted == seen_diverted);
  CHECK(diverted > 200);
}

}  // namespace
}  // namespace heaprec::arch
