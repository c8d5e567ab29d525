#include "recorder/arch/aarch64/prologue.h"

#include <cstdio>

namespace heaprec::arch {
namespace {

// HINT instructions.
constexpr uint32_t kPaciasp = 0xd503233f, kAutiasp = 0xd50323bf;
constexpr uint32_t kPacibsp = 0xd503237f, kAutibsp = 0xd50323ff;
constexpr uint32_t kBti = 0xd503241f, kBtiC = 0xd503245f, kBtiJ = 0xd503249f, kBtiJc = 0xd50324df;

constexpr uint32_t kBranch = 0x14000000;
constexpr uintptr_t kBranchReach = uintptr_t{1} << 27;

struct Group {
  uint32_t mask, value;
  const char* what;
};

// Arm Architecture Reference Manual, C4.1: instructions that use their own address, or do not continue with the next
// one.
constexpr Group kImmovable[] = {
    {0x1f000000, 0x10000000, "takes its own address"},                     // ADR, ADRP
    {0x7c000000, 0x14000000, "is a branch"},                               // B, BL
    {0xfe000000, 0x54000000, "is a branch"},                               // B.cond, BC.cond
    {0x7e000000, 0x34000000, "is a branch"},                               // CBZ, CBNZ
    {0x7e000000, 0x36000000, "is a branch"},                               // TBZ, TBNZ
    {0xfe000000, 0xd6000000, "is a branch"},                               // BR, BLR, RET and their signed forms
    {0x3b000000, 0x18000000, "reads memory relative to its own address"},  // LDR, LDRSW, PRFM (literal)
    {0xff000000, 0xd4000000, "raises an exception"},                       // SVC, HVC, SMC, BRK, HLT
    {0xffff0000, 0x00000000, "is undefined"},                              // UDF
};

}  // namespace

LandingPad LandingPadOf(std::span<const uint32_t> source) {
  if (source.empty()) return {};
  switch (source[0]) {
    case kBti:
    case kBtiC:
    case kBtiJ:
    case kBtiJc:
      return {1, 0};
    case kPaciasp:
      return {1, kAutiasp};
    case kPacibsp:
      return {1, kAutibsp};
    default:
      return {};
  }
}

std::string ObstacleToMove(uint32_t instruction) {
  for (const Group& group : kImmovable) {
    if ((instruction & group.mask) != group.value) continue;
    char word[16];
    std::snprintf(word, sizeof word, "0x%08x", instruction);
    return std::string("the function starts with ") + word + ", which " + group.what;
  }
  return {};
}

uint32_t EncodeBranch(uintptr_t from, uintptr_t to) {
  const uintptr_t distance = to - from;
  if (distance + kBranchReach >= 2 * kBranchReach || distance % 4 != 0) return 0;
  return kBranch | (static_cast<uint32_t>(distance >> 2) & 0x03ffffff);
}

}  // namespace heaprec::arch
