// Property: whatever .eh_frame holds, following it ends, and reads nothing outside of the module.
//
// Input: 2 bytes: where in the module the FDE is; 2 bytes: where the pc is; the module.
#include <cstring>
#include <string_view>
#include <vector>

#include "recorder/unwind/cfi_cache.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

std::vector<Input> Seeds() {
  // A CIE (code unit 1, data unit -8, return address 16, pointers pc-relative in 4 bytes), then an FDE at 24 whose
  // function begins where the module does and has 64 bytes: push %rbp; mov %rsp,%rbp.
  constexpr std::string_view kModule(
      "\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0"
      "\x18\0\0\0\x1c\0\0\0\xe0\xff\xff\xff\x40\0\0\0\0\x41\x0e\x10\x86\x02\x43\x0d\x06\0\0\0",
      52);
  Input fde_at_24{24, 0, 8, 0};
  fde_at_24.insert(fde_at_24.end(), kModule.begin(), kModule.end());
  return {fde_at_24};
}

void Check(const uint8_t* bytes, size_t size) {
  using native::CfiRow;
  if (size < 4) return;
  uint16_t description = 0, pc = 0;
  std::memcpy(&description, bytes, sizeof description);
  std::memcpy(&pc, bytes + sizeof description, sizeof pc);
  const std::vector<uint8_t> module(bytes + 4, bytes + size);  // on the heap: reads beyond it are found
  const auto begin = reinterpret_cast<uintptr_t>(module.data());
  const CfiRow rule = native::ExecuteCfi({begin, begin + module.size()}, begin + description, begin + pc);
  Require(rule.base != CfiRow::Base::kUnknown || rule == CfiRow{});
}

const Registered kRegistered({.name = "cfi", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
