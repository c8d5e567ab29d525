// Analyses the first instructions of a function for a detour. Works on aarch64 code only.
//
// Units:    aarch64's instructions.
// Context:  setup.
// Threads:  any.
// Failure:  none. An instruction that may behave differently at another address has an obstacle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heaprec::arch {

// An instruction at which an indirect call may land; it is not moved.
struct LandingPad {
  size_t instructions = 0;  // 0 or 1
  // The instruction that authenticates the return address that the landing pad has signed; 0: it signs none.
  uint32_t authenticate = 0;
};
LandingPad LandingPadOf(std::span<const uint32_t> source);

// Returns why the instruction cannot be moved: it would behave differently at another address, or it never continues
// with the next one. Empty: it can be moved.
std::string ObstacleToMove(uint32_t instruction);

// Encodes a B instruction from one address to another. Returns 0 if the distance is too large.
uint32_t EncodeBranch(uintptr_t from, uintptr_t to);

}  // namespace heaprec::arch
