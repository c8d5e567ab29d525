// Relocations by which the loader writes the address of a symbol into a word
// (ELF for the Arm 64-bit Architecture, section 5.7).
#pragma once

#include <elf.h>

#include <cstdint>

namespace heaprec::arch {

inline constexpr uint32_t kRelocatedCall = R_AARCH64_JUMP_SLOT, kRelocatedData = R_AARCH64_GLOB_DAT,
                          kRelocatedWord = R_AARCH64_ABS64;

}  // namespace heaprec::arch
