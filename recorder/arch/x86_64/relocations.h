// Relocations by which the loader writes the address of a symbol into a word
// (System V ABI, AMD64 supplement, section 4.4).
#pragma once

#include <elf.h>

#include <cstdint>

namespace heaprec::arch {

inline constexpr uint32_t kRelocatedCall = R_X86_64_JUMP_SLOT, kRelocatedData = R_X86_64_GLOB_DAT,
                          kRelocatedWord = R_X86_64_64;

}  // namespace heaprec::arch
