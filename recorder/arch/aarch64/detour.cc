// One instruction is replaced, so a thread that runs the function meanwhile executes the old one or the jump, and none
// can stand between: no trap, no grace period. docs/architecture.md#aarch64
#include "recorder/arch/detour.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>
#include <string>

#include "recorder/arch/aarch64/page_swap.h"
#include "recorder/arch/aarch64/prologue.h"
#include "recorder/arch/near_memory.h"

namespace heaprec::arch {
namespace {

constexpr size_t kWordSize = sizeof(uint32_t);
constexpr uintptr_t kReach = (uintptr_t{1} << 27) - (uintptr_t{1} << 20);  // of B: 128 MiB
constexpr size_t kTargetAt = 4;  // words in the thunk: the replacement's address
constexpr size_t kOriginalAt = 8;

constexpr uint32_t kBtiC = 0xd503245f;
constexpr uint32_t kNop = 0xd503201f;
constexpr uint32_t kLoadTarget = 0x58000070;  // ldr x16, [pc + 12]
constexpr uint32_t kJumpTarget = 0xd61f0200;  // br x16
constexpr uint32_t kBreak = 0xd4200000;       // brk #0

std::mutex& Serial() {
  static auto* const mutex = new std::mutex;  // never destroyed: agents are stopped while the process exits
  return *mutex;
}

uint32_t WordAt(uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(address), __ATOMIC_RELAXED);
}

// The way to the replacement, and the way to the original function. The first begins with the return address as the
// caller left it: what the landing pad has signed is authenticated, and signed again on the way to the original.
bool FillThunk(uint32_t* thunk, size_t words, const void* replacement, const LandingPad& pad, uintptr_t target,
               uintptr_t site) {
  std::fill_n(thunk, words, kBreak);
  thunk[0] = pad.authenticate != 0 ? pad.authenticate : kNop;
  thunk[1] = kLoadTarget;
  thunk[2] = kJumpTarget;
  std::memcpy(thunk + kTargetAt, &replacement, sizeof replacement);
  uint32_t* next = thunk + kOriginalAt;
  *next++ = kBtiC;  // called through a pointer; a NOP where that is not enforced
  if (pad.authenticate != 0) *next++ = WordAt(target);
  *next++ = WordAt(site);
  *next = EncodeBranch(reinterpret_cast<uintptr_t>(next), site + kWordSize);
  return *next != 0;
}

}  // namespace

format::Result<Detour> Detour::Prepare(uintptr_t target, const void* replacement) {
  const std::lock_guard lock(Serial());
  const auto mapping = RegionOf(target);
  if (!mapping || (mapping->protection & (PROT_READ | PROT_EXEC)) != (PROT_READ | PROT_EXEC))
    return format::Error{"the function is not in readable code"};
  if (target % kWordSize != 0 || mapping->end - target < 2 * kWordSize)
    return format::Error{"the function does not begin where an instruction can"};
  const uint32_t first[] = {WordAt(target)};
  const LandingPad pad = LandingPadOf(first);

  Detour detour;
  detour.site_ = target + pad.instructions * kWordSize;
  detour.protection_ = mapping->protection;
  const uint32_t displaced = WordAt(detour.site_);
  if (const std::string obstacle = ObstacleToMove(displaced); !obstacle.empty()) return format::Error{obstacle};
  const auto page = MapPageNear(detour.site_, kReach);
  if (!page) return page.error();
  auto* const thunk = reinterpret_cast<uint32_t*>(*page);
  const uint32_t jump = EncodeBranch(detour.site_, reinterpret_cast<uintptr_t>(thunk));
  const size_t bytes = PageSize();
  if (jump == 0 || !FillThunk(thunk, bytes / kWordSize, replacement, pad, target, detour.site_)) {
    munmap(*page, bytes);  // no thread has seen it
    return format::Error{"the thunk is too far from the function"};
  }
  __builtin___clear_cache(reinterpret_cast<char*>(thunk), reinterpret_cast<char*>(thunk) + bytes);
  if (mprotect(*page, bytes, PROT_READ | PROT_EXEC) != 0) {
    const std::string reason = strerror(errno);
    munmap(*page, bytes);
    return format::Error{"executable memory is refused: " + reason};
  }
  detour.entry_ = thunk;
  detour.original_ = thunk + kOriginalAt;
  std::memcpy(detour.before_, &displaced, kWordSize);
  std::memcpy(detour.jump_, &jump, kWordSize);
  return detour;
}

format::Result<std::monostate> Detour::Replace(const uint8_t* from, const uint8_t* to, const void* /*meanwhile*/,
                                               GracePeriod /*grace*/) {
  uint32_t expected = 0, wanted = 0;
  std::memcpy(&expected, from, kWordSize);
  std::memcpy(&wanted, to, kWordSize);
  if (WordAt(site_) != expected) return format::Error{"the function was changed by someone else"};
  auto replaced = ReplaceInstruction(site_, wanted, protection_);
  if (replaced) installed_ = to == jump_;
  return replaced;
}

format::Result<std::monostate> Detour::Install(GracePeriod grace) {
  const std::lock_guard lock(Serial());
  if (installed_) return std::monostate{};
  return Replace(before_, jump_, entry_, grace);
}

format::Result<std::monostate> Detour::Remove() {
  const std::lock_guard lock(Serial());
  if (!installed_) return std::monostate{};
  return Replace(jump_, before_, original_, {});
}

}  // namespace heaprec::arch
