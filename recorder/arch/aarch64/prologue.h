// What the first instructions of a function are, as far as a detour has to know. Words, not bytes: no other machine's
// code is read by it.
//
// Units:    aarch64's instructions.
// Context:  setup.
// Threads:  any.
// Failure:  none. What is not known to do the same elsewhere has an obstacle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heaprec::arch {

// An instruction on which an indirect call may land, and which is left in its place.
struct LandingPad {
  size_t instructions = 0;  // 0 or 1
  // What takes back a signature of the return address that it has made; 0: it makes none.
  uint32_t authenticate = 0;
};
LandingPad LandingPadOf(std::span<const uint32_t> source);

// Why the instruction does something else at another address, or never comes to the next one; empty: it can be moved.
std::string ObstacleToMove(uint32_t instruction);

// B from one address to another; 0: it is too far.
uint32_t EncodeBranch(uintptr_t from, uintptr_t to);

}  // namespace heaprec::arch
