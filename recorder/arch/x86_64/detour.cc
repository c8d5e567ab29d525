#include "recorder/arch/detour.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>
#include <string>

#include "recorder/arch/code_patch.h"
#include "recorder/arch/near_memory.h"
#include "recorder/arch/x86_64/prologue.h"
#include "recorder/arch/x86_64/trap.h"

namespace heaprec::arch {
namespace {

constexpr size_t kJumpSize = 5;  // E9 rel32
constexpr uint8_t kInt3 = 0xcc;
constexpr uint8_t kJump = 0xe9;
constexpr size_t kReadAhead = 512;  // of the target, at most to the end of its mapping
constexpr size_t kOriginalAt = 32;  // offset of the way to the original in its page
// rel32 reaches 2 GiB; the displaced code may refer to data tens of MiB on either side of it.
constexpr uintptr_t kReach = (uintptr_t{1} << 31) - (uintptr_t{1} << 28);
constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

std::mutex& Serial() {
  static auto* const mutex = new std::mutex;  // never destroyed: agents are stopped while the process exits
  return *mutex;
}

void EncodeJump(uintptr_t from, uintptr_t to, uint8_t* out) {
  const auto displacement = static_cast<int32_t>(to - (from + 5));
  out[0] = kJump;
  std::memcpy(out + 1, &displacement, sizeof displacement);
}

// A page: the way to the replacement, and the way to the original function.
void FillThunk(uint8_t* page, const void* replacement, const Prologue& prologue, uintptr_t site) {
  std::memset(page, kInt3, PageSize());
  constexpr uint8_t kIndirect[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]: the address follows
  std::memcpy(page, kIndirect, sizeof kIndirect);
  std::memcpy(page + sizeof kIndirect, &replacement, sizeof replacement);
  uint8_t* next = page + kOriginalAt;
  std::memcpy(next, kEndbr64, sizeof kEndbr64);  // called through a pointer; a no-op where that is not enforced
  next += sizeof kEndbr64;
  std::memcpy(next, prologue.code.data(), prologue.code.size());
  next += prologue.code.size();
  EncodeJump(reinterpret_cast<uintptr_t>(next), site + prologue.size, next);
}

}  // namespace

format::Result<Detour> Detour::Prepare(uintptr_t target, const void* replacement) {
  const std::lock_guard lock(Serial());
  const auto mapping = RegionOf(target);
  if (!mapping || (mapping->protection & (PROT_READ | PROT_EXEC)) != (PROT_READ | PROT_EXEC))
    return format::Error{"the function is not in readable code"};
  const size_t readable = std::min<size_t>(kReadAhead, mapping->end - target);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it came from a symbol table
  std::span<const uint8_t> code(reinterpret_cast<const uint8_t*>(target), readable);
  code = code.subspan(EndbrSize(code));

  Detour detour;
  detour.site_ = reinterpret_cast<uintptr_t>(code.data());
  detour.protection_ = mapping->protection;
  const auto page = MapPageNear(detour.site_, kReach);
  if (!page) return page.error();
  const auto copy_at = reinterpret_cast<uintptr_t>(*page) + kOriginalAt + sizeof kEndbr64;
  const auto prologue = MovePrologue(code, detour.site_, copy_at, kJumpSize);
  if (!prologue) {
    munmap(*page, PageSize());  // no thread has seen it
    return prologue.error();
  }
  std::copy_n(code.data(), kJumpSize, detour.before_);
  FillThunk(*page, replacement, *prologue, detour.site_);
  if (mprotect(*page, PageSize(), PROT_READ | PROT_EXEC) != 0) {
    const std::string reason = strerror(errno);
    munmap(*page, PageSize());
    return format::Error{"executable memory is refused: " + reason};
  }
  detour.entry_ = *page;
  detour.original_ = *page + kOriginalAt;
  EncodeJump(detour.site_, reinterpret_cast<uintptr_t>(*page), detour.jump_);
  return detour;
}

// The entry traps while its other bytes are not consistent: INT3, the tail, the first byte, each seen by all before the
// next. `grace` runs while it traps.
format::Result<std::monostate> Detour::Replace(const uint8_t* from, const uint8_t* to, const void* meanwhile,
                                               GracePeriod grace) {
  const auto* const now = reinterpret_cast<const uint8_t*>(site_);  // NOLINT(performance-no-int-to-ptr)
  if (!std::equal(from, from + kJumpSize, now)) return format::Error{"the function was changed by someone else"};
  if (SomeThreadBlocksTraps()) return format::Error{"a thread blocks SIGTRAP"};
  if (!TakeTraps() || !Redirect(site_, meanwhile)) return format::Error{"SIGTRAP cannot be handled"};
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
  if (!patch->End()) return format::Error{"the function's code stays writable: mprotect is refused"};
  if (!clear) return format::Error{"threads may still stand in the function's first instructions"};
  return std::monostate{};
}

format::Result<std::monostate> Detour::Install(GracePeriod grace) {
  const std::lock_guard lock(Serial());
  if (installed_) return std::monostate{};
  return Replace(before_, jump_, entry_, grace);
}

format::Result<std::monostate> Detour::Remove() {
  const std::lock_guard lock(Serial());
  if (!installed_) return std::monostate{};
  // No grace period: the jump is one instruction, no thread can stand inside it.
  return Replace(jump_, before_, original_, {});
}

}  // namespace heaprec::arch
