// What a detour must know about the first instructions of a function. It reads words, not bytes, so it works on
// aarch64 code only.
//
// Units:    aarch64's instructions.
// Context:  setup.
// Threads:  any.
// Failure:  none. An instruction that is not known to do the same at another address has an obstacle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heaprec::arch {

// An instruction at which an indirect call may land; it stays in its place.
struct LandingPad {
  size_t instructions = 0;  // 0 or 1
  // The instruction that authenticates the return address that this one has signed; 0: it signs none.
  uint32_t authenticate = 0;
};
LandingPad LandingPadOf(std::span<const uint32_t> source);

// Why the instruction would do something else at another address, or never continues with the next one. Empty: it can
// be moved.
std::string ObstacleToMove(uint32_t instruction);

// Encodes a B from one address to another; 0: the distance is too large.
uint32_t EncodeBranch(uintptr_t from, uintptr_t to);

}  // namespace heaprec::arch
