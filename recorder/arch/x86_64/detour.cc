#include "recorder/arch/detour.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "recorder/arch/code_patch.h"
#include "recorder/arch/x86_64/prologue.h"
#include "recorder/arch/x86_64/trap.h"

namespace heaprec::arch {
namespace {

constexpr size_t kJumpSize = 5;  // E9 rel32
constexpr uint8_t kInt3 = 0xcc;
constexpr uint8_t kJump = 0xe9;
constexpr size_t kReadAhead = 512;  // bytes of the target to read, at most to the end of its mapping
constexpr size_t kOriginalAt = 32;  // offset in the page of the entry to the original
// rel32 reaches 2 GiB; the displaced code may refer to data tens of MiB away in both directions.
constexpr uintptr_t kReach = (uintptr_t{1} << 31) - (uintptr_t{1} << 28);
constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

void EncodeJump(uintptr_t from, uintptr_t to, uint8_t* out) {
  const auto displacement = static_cast<int32_t>(to - (from + 5));
  out[0] = kJump;
  std::memcpy(out + 1, &displacement, sizeof displacement);
}

// Writes a page: the jump to the replacement, and the entry to the original function.
void FillThunk(uint8_t* page, const void* replacement, const Prologue& prologue, uintptr_t site) {
  std::memset(page, kInt3, PageSize());
  constexpr uint8_t kIndirect[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]: the address follows
  std::memcpy(page, kIndirect, sizeof kIndirect);
  std::memcpy(page + sizeof kIndirect, &replacement, sizeof replacement);
  uint8_t* next = page + kOriginalAt;
  std::memcpy(next, kEndbr64, sizeof kEndbr64);  // called through a pointer; a no-op unless branch targets are enforced
  next += sizeof kEndbr64;
  std::memcpy(next, prologue.code.data(), prologue.code.size());
  next += prologue.code.size();
  EncodeJump(reinterpret_cast<uintptr_t>(next), site + prologue.size, next);
}

}  // namespace

Status Detour::BuildThunk(uintptr_t target, size_t readable, const void* replacement) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it came from a symbol table
  std::span<const uint8_t> code(reinterpret_cast<const uint8_t*>(target), std::min(kReadAhead, readable));
  code = code.subspan(EndbrSize(code));
  site_ = reinterpret_cast<uintptr_t>(code.data());
  const auto page = MapPageNear(site_, kReach);
  if (!page) return page.error();
  thunk_ = *page;
  original_ = thunk_ + kOriginalAt;
  const auto copy_at = reinterpret_cast<uintptr_t>(original_) + sizeof kEndbr64;
  const auto prologue = MovePrologue(code, site_, copy_at, kJumpSize);
  if (!prologue) return prologue.error();
  FillThunk(thunk_, replacement, *prologue, site_);
  std::copy_n(code.data(), kJumpSize, before_);
  EncodeJump(site_, reinterpret_cast<uintptr_t>(thunk_), jump_);
  return {};
}

// The entry traps while its other bytes are inconsistent. Writes INT3, then the tail, then the first byte; all threads
// see each write before the next one. `grace` runs while the entry traps.
Status Detour::Replace(const uint8_t* from, const uint8_t* to, const void* meanwhile, GracePeriod grace) {
  const auto* const now = reinterpret_cast<const uint8_t*>(site_);  // NOLINT(performance-no-int-to-ptr)
  if (!std::equal(from, from + kJumpSize, now)) return Error{"the function was changed by other code"};
  if (SomeThreadBlocksTraps()) return Error{"a thread blocks SIGTRAP"};
  if (!TakeTraps() || !Redirect(site_, meanwhile)) return Error{"SIGTRAP cannot be handled"};
  auto patch = CodePatch::Begin(site_, kJumpSize, protection_);
  if (!patch) return patch.error();
  patch->WriteByte(0, kInt3);
  patch->Publish();
  const bool clear = grace.wait == nullptr || grace.wait(grace.context);
  if (clear) {
    for (size_t i = 1; i < kJumpSize; ++i) patch->WriteByte(i, to[i]);
    patch->Publish();
  }
  patch->WriteByte(0, clear ? to[0] : from[0]);
  patch->Publish();
  installed_ = clear ? to == jump_ : installed_;
  if (!patch->End()) return Error{"the function's code stays writable: mprotect is refused"};
  if (!clear) return Error{"threads may still be in the function's first instructions"};
  return {};
}

}  // namespace heaprec::arch
