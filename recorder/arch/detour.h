// Diverts a function to a replacement while other threads run it: a direct jump at its entry to a thunk nearby, and a
// copy of the displaced instructions through which the original stays callable.
//
// Context:  setup and drain (Prepare, Install, Remove); original(), installed(): any.
// Threads:  Prepare, Install, Remove are serialised inside. Any number of threads may run the function meanwhile.
//           original() is complete before the first byte of the target changes, so a replacement may use it at once.
// Failure:  an Error with the reason; the target is then unchanged. A thunk is never unmapped: a thread may stand in
// it.
//           On x86-64 SIGTRAP is ours from the first Install on; foreign traps go to the handler that was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "format/bytes/result.h"

namespace heaprec::arch {

// Returns when every thread that stood in the target's first instructions has left them, e.g. after a safepoint; false
// if it cannot tell. Called while the entry traps, so it must not wait for a thread that runs no instruction at all.
// Null function: no other thread can stand in the target (Agent_OnLoad). Not called where one instruction is displaced
// (aarch64): no thread can stand within it.
struct GracePeriod {
  bool (*wait)(void* context) = nullptr;
  void* context = nullptr;
};

class Detour {
 public:
  // Builds the thunk. Refuses a target whose first instructions cannot be moved.
  // `replacement` has the target's signature and ends by calling original().
  static format::Result<Detour> Prepare(uintptr_t target, const void* replacement);

  format::Result<std::monostate> Install(GracePeriod grace = {});
  format::Result<std::monostate> Remove();

  // Call this to run the original function.
  const void* original() const { return original_; }
  // The same, as a pointer to the target's type of function.
  template <typename Function>
  Function OriginalAs() const {
    return reinterpret_cast<Function>(const_cast<void*>(original_));  // code, which has no const
  }
  bool installed() const { return installed_; }

 private:
  static constexpr size_t kMaxJumpSize = 5;  // x86-64: jmp rel32; aarch64: B, four bytes

  Detour() = default;
  // Each machine's own, below a folder of its name. Of the target `readable` bytes can be read. On failure a page that
  // thunk_ leads to is unmapped by the caller.
  format::Result<std::monostate> BuildThunk(uintptr_t target, size_t readable, const void* replacement);
  format::Result<std::monostate> Replace(const uint8_t* from, const uint8_t* to, const void* meanwhile,
                                         GracePeriod grace);

  uintptr_t site_ = 0;  // where the jump is written: the target, or behind its landing pad (endbr64, BTI, PACIASP)
  int protection_ = 0;  // of the site's pages, as they were
  uint8_t* thunk_ = nullptr;  // a page: its first instruction leads to the replacement
  const void* original_ = nullptr;
  uint8_t before_[kMaxJumpSize] = {};
  uint8_t jump_[kMaxJumpSize] = {};
  bool installed_ = false;
};

}  // namespace heaprec::arch
