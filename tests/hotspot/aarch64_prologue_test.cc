#include <catch2/catch.hpp>
#include <cstdint>

#include "recorder/arch/aarch64/prologue.h"

// The words are those of Debian's assembler.
namespace heaprec::arch {
namespace {

TEST_CASE("Instructions that refer to their own address cannot be moved") {
  const uint32_t adr = 0x10000000, adrp = 0x90000000, ldr_x = 0x58000000, ldr_w = 0x18000005, ldrsw = 0x98000001,
                 ldr_q = 0x9c000000, prfm = 0xd8000000;
  for (const uint32_t word : {adr, adrp, ldr_x, ldr_w, ldrsw, ldr_q, prfm}) {
    INFO(std::hex << word);
    CHECK(!ObstacleToMove(word).empty());
  }
}

TEST_CASE("Instructions that do not continue with the next one cannot be moved") {
  const uint32_t b = 0x14000000, bl = 0x94000000, b_eq = 0x54000000, cbz = 0xb4000000, cbnz = 0x35000003,
                 tbz = 0x36180000, tbnz = 0xb7080000, br = 0xd61f0200, blr = 0xd63f0020, ret = 0xd65f03c0,
                 svc = 0xd4000001, brk = 0xd4200000, udf = 0;
  for (const uint32_t word : {b, bl, b_eq, cbz, cbnz, tbz, tbnz, br, blr, ret, svc, brk, udf}) {
    INFO(std::hex << word);
    CHECK(!ObstacleToMove(word).empty());
  }
}

TEST_CASE("The usual prologues of compilers can be moved") {
  const uint32_t stp = 0xa9b87bfd, sub = 0xd100c3ff, mov = 0x910003fd, nop = 0xd503201f, paciasp = 0xd503233f,
                 mrs = 0xd53bd040, ldr = 0xf9400420, stp_d = 0x6dbf27e8, cmp = 0xf100001f, mov_w = 0x528000a0,
                 str = 0xf81e0ff3;
  for (const uint32_t word : {stp, sub, mov, nop, paciasp, mrs, ldr, stp_d, cmp, mov_w, str}) {
    INFO(std::hex << word);
    CHECK(ObstacleToMove(word).empty());
  }
}

TEST_CASE("An obstacle is reported with its instruction") {
  CHECK(ObstacleToMove(0x94000000) == "the function starts with 0x94000000, which is a branch");
}

TEST_CASE("Landing pads stay in place, and signed addresses are authenticated") {
  const uint32_t stp = 0xa9b87bfd, bti_c = 0xd503245f, paciasp = 0xd503233f, pacibsp = 0xd503237f;
  CHECK(LandingPadOf({&stp, 1}).instructions == 0);
  CHECK(LandingPadOf({&bti_c, 1}).instructions == 1);
  CHECK(LandingPadOf({&bti_c, 1}).authenticate == 0);
  CHECK(LandingPadOf({&paciasp, 1}).instructions == 1);
  CHECK(LandingPadOf({&paciasp, 1}).authenticate == 0xd50323bf);  // autiasp
  CHECK(LandingPadOf({&pacibsp, 1}).authenticate == 0xd50323ff);  // autibsp
  CHECK(LandingPadOf({}).instructions == 0);
}

TEST_CASE("A branch reaches 128 MiB either way, and no further") {
  constexpr uintptr_t kFrom = uintptr_t{1} << 40, kReach = uintptr_t{1} << 27;
  CHECK(EncodeBranch(kFrom, kFrom) == 0x14000000);
  CHECK(EncodeBranch(kFrom, kFrom + 8) == 0x14000002);
  CHECK(EncodeBranch(kFrom, kFrom - 4) == 0x17ffffff);
  CHECK(EncodeBranch(kFrom, kFrom + kReach - 4) == 0x15ffffff);
  CHECK(EncodeBranch(kFrom, kFrom - kReach) == 0x16000000);
  CHECK(EncodeBranch(kFrom, kFrom + kReach) == 0);
  CHECK(EncodeBranch(kFrom, kFrom - kReach - 4) == 0);
  CHECK(EncodeBranch(kFrom, kFrom + 2) == 0);
}

}  // namespace
}  // namespace heaprec::arch
