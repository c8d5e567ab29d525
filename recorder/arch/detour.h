// Diverts a function to a replacement while other threads execute it. A direct jump at its entry leads to a thunk
// nearby. A copy of the displaced instructions keeps the original callable.
//
// Context:  setup and drain (Prepare, Install, Remove); original(), installed(): any.
// Threads:  Prepare, Install and Remove serialise themselves. Any number of threads may execute the function
//           meanwhile. original() is complete before the first byte of the target changes, so a replacement may use it
//           at once.
// Failure:  an Error with the reason; the target is then unchanged. A thunk is never unmapped, because a thread may
//           be in it. On x86-64 the agent handles SIGTRAP from the first Install on; foreign traps go to the
//           previous handler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace heaprec::arch {

// Returns true once every thread that was in the target's first instructions has left them, e.g. after a safepoint;
// false if that is unknown. It is called while the entry traps, so it must not wait for a thread that executes no
// instructions. A null function means that no other thread can be in the target (Agent_OnLoad). It is not called if
// one instruction is displaced (aarch64), because no thread can be within it.
struct GracePeriod {
  bool (*wait)(void* context) = nullptr;
  void* context = nullptr;
};

class Detour {
 public:
  // Builds the thunk. Rejects a target whose first instructions cannot be moved.
  // `replacement` has the target's signature and ends by calling original().
  static Result<Detour> Prepare(uintptr_t target, const void* replacement);

  Status Install(GracePeriod grace = {});
  Status Remove();

  // Call this to run the original function.
  const void* original() const { return original_; }
  // The same as a function pointer of the target's type.
  template <typename Function>
  Function OriginalAs() const {
    return reinterpret_cast<Function>(const_cast<void*>(original_));  // a pointer to code cannot be const
  }
  bool installed() const { return installed_; }

 private:
  static constexpr size_t kMaxJumpSize = 5;  // x86-64: jmp rel32; aarch64: B, four bytes

  Detour() = default;
  // Implemented for each machine in its folder. `readable`: bytes of the target that can be read. On failure the
  // caller unmaps the page that thunk_ points to.
  Status BuildThunk(uintptr_t target, size_t readable, const void* replacement);
  Status Replace(const uint8_t* from, const uint8_t* to, const void* meanwhile, GracePeriod grace);

  uintptr_t site_ = 0;        // where the jump is written: the target, or after its landing pad (endbr64, BTI, PACIASP)
  int protection_ = 0;        // original protection of the site's pages
  uint8_t* thunk_ = nullptr;  // a page whose first instruction leads to the replacement
  const void* original_ = nullptr;
  uint8_t before_[kMaxJumpSize] = {};
  uint8_t jump_[kMaxJumpSize] = {};
  bool installed_ = false;
};

}  // namespace heaprec::arch
