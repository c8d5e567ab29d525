// One instruction is replaced, so a thread that executes the function meanwhile executes either the old instruction or
// the jump. No trap and no grace period are needed. docs/architecture.md#aarch64
#include "recorder/arch/detour.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "recorder/arch/aarch64/prologue.h"
#include "recorder/arch/code_patch.h"

namespace heaprec::arch {
namespace {

constexpr size_t kWordSize = sizeof(uint32_t);
constexpr uintptr_t kReach = (uintptr_t{1} << 27) - (uintptr_t{1} << 20);  // of B: 128 MiB
constexpr size_t kTargetAt = 4;  // index of the replacement's address in the thunk, in words
constexpr size_t kOriginalAt = 8;

constexpr uint32_t kBtiC = 0xd503245f;
constexpr uint32_t kNop = 0xd503201f;
constexpr uint32_t kLoadTarget = 0x58000070;  // ldr x16, [pc + 12]
constexpr uint32_t kJumpTarget = 0xd61f0200;  // br x16
constexpr uint32_t kBreak = 0xd4200000;       // brk #0

uint32_t WordAt(uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(address), __ATOMIC_RELAXED);
}

// Writes the jump to the replacement and the entry to the original function. The jump first authenticates a return
// address that the landing pad has signed; the entry to the original signs it again.
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

Status WriteInCopy(uintptr_t site, uint32_t word, int protection) {
  auto patch = CodePatch::Begin(site, sizeof word, protection);
  if (!patch) return patch.error();
  patch->WriteWord(0, word);
  patch->Publish();
  if (!patch->End()) return Error{std::string("mprotect of code is refused: ") + strerror(errno)};
  return {};
}

// Replaces one instruction in code that other threads execute.
//
// The word is never stored where threads execute it. The architecture allows that for a few instructions only; the
// first instruction of a function is usually not one of them (Arm Architecture Reference Manual, B2.2.5). A copy of the
// page is changed before anything can execute it, and then mapped over the page: a thread fetches from one or the
// other. The kernel's uprobes do the same.
//
// `site`: a multiple of four. `protection`: of its page (PROT_* bits); it does not change. A thread that executes the
// new word sees everything stored before the call.
Status ReplaceInstruction(uintptr_t site, uint32_t word, int protection) {
  const size_t size = PageSize();
  void* const page = reinterpret_cast<void*>(site & ~(size - 1));  // NOLINT(performance-no-int-to-ptr)
  void* const copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return Error{std::string("no memory for code: ") + strerror(errno)};
  std::memcpy(copy, page, size);
  Status status = WriteInCopy(reinterpret_cast<uintptr_t>(copy) + site % size, word, protection);
  // One call under the lock of the address space, for which page faults wait, so the page never disappears. It checks
  // for errors before it unmaps the old page.
  if (status && mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) {
    status = Error{std::string("mremap of code is refused: ") + strerror(errno)};
  }
  if (!status) munmap(copy, size);
  return status;
}

}  // namespace

Status Detour::BuildThunk(uintptr_t target, size_t readable, const void* replacement) {
  if (target % kWordSize != 0 || readable < 2 * kWordSize)
    return Error{"the function's address is not a multiple of four"};
  const uint32_t first[] = {WordAt(target)};
  const LandingPad pad = LandingPadOf(first);
  site_ = target + pad.instructions * kWordSize;
  const uint32_t displaced = WordAt(site_);
  if (const std::string obstacle = ObstacleToMove(displaced); !obstacle.empty()) return Error{obstacle};
  const auto page = MapPageNear(site_, kReach);
  if (!page) return page.error();
  thunk_ = *page;
  auto* const words = reinterpret_cast<uint32_t*>(thunk_);
  original_ = words + kOriginalAt;
  const uint32_t jump = EncodeBranch(site_, reinterpret_cast<uintptr_t>(words));
  const size_t bytes = PageSize();
  if (jump == 0 || !FillThunk(words, bytes / kWordSize, replacement, pad, target, site_))
    return Error{"the thunk is too far from the function"};
  __builtin___clear_cache(reinterpret_cast<char*>(thunk_), reinterpret_cast<char*>(thunk_) + bytes);
  std::memcpy(before_, &displaced, kWordSize);
  std::memcpy(jump_, &jump, kWordSize);
  return {};
}

Status Detour::Replace(const uint8_t* from, const uint8_t* to, const void* /*meanwhile*/, GracePeriod /*grace*/) {
  uint32_t expected = 0, wanted = 0;
  std::memcpy(&expected, from, kWordSize);
  std::memcpy(&wanted, to, kWordSize);
  if (WordAt(site_) != expected) return Error{"the function was changed by other code"};
  auto replaced = ReplaceInstruction(site_, wanted, protection_);
  if (replaced) installed_ = to == jump_;
  return replaced;
}

}  // namespace heaprec::arch
