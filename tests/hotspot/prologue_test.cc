#include "recorder/arch/x86_64/prologue.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heaprec::arch {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr uintptr_t kFrom = 0x7f0000001000;
constexpr uintptr_t kTo = 0x7f0010000000;
constexpr size_t kJump = 5;

std::string Refusal(const Bytes& code, uintptr_t to = kTo) {
  const auto moved = MovePrologue(code, kFrom, to, kJump);
  return moved ? "" : moved.error().message;
}

TEST_CASE("Pushes and moves are copied as whole instructions") {
  const Bytes code = {0x55, 0x4d, 0x89, 0xc1, 0x45, 0x31, 0xc0, 0x48, 0x89, 0xe5, 0xc3};  // push; mov; xor; mov; ret
  const auto moved = MovePrologue(code, kFrom, kTo, kJump);
  REQUIRE(moved.ok());
  CHECK(moved->size == 7);
  CHECK(moved->code == Bytes(code.begin(), code.begin() + 7));
}

TEST_CASE("A displacement relative to the instruction pointer still refers to the same address") {
  const Bytes lea = {0x48, 0x8d, 0x05, 0x3f, 0x95, 0x48, 0x00, 0xc3};                 // lea rax, [rip + 0x48953f]
  const Bytes cmp = {0x80, 0x3d, 0x10, 0x00, 0x00, 0x00, 0x00, 0xc3};                 // cmp byte [rip + 16], 0
  const Bytes mov = {0x48, 0xc7, 0x05, 0x20, 0, 0, 0, 0x01, 0x02, 0x03, 0x04, 0xc3};  // mov qword [rip + 32], imm32
  for (const auto& [code, at] : {std::pair(lea, 3), std::pair(cmp, 2), std::pair(mov, 3)}) {
    const auto moved = MovePrologue(code, kFrom, kTo, kJump);
    REQUIRE(moved.ok());
    int32_t before = 0;
    int32_t after = 0;
    std::memcpy(&before, code.data() + at, 4);
    std::memcpy(&after, moved->code.data() + at, 4);
    CHECK(kFrom + static_cast<uintptr_t>(int64_t{before}) == kTo + static_cast<uintptr_t>(int64_t{after}));
    Bytes same = moved->code;
    std::memcpy(same.data() + at, &before, 4);
    CHECK(std::equal(same.begin(), same.end(), code.begin()));
  }
}

TEST_CASE("A displacement that is too large is refused") {
  const Bytes lea = {0x48, 0x8d, 0x05, 0x00, 0x00, 0x00, 0x80, 0xc3};  // 2 GiB below
  CHECK(Refusal(lea).find("too far") != std::string::npos);
}

TEST_CASE("Control flow is refused with the instruction's text") {
  CHECK(Refusal({0x74, 0x10, 0x90, 0x90, 0x90, 0x90}).find("je") != std::string::npos);
  CHECK(Refusal({0x55, 0x0f, 0x84, 0, 1, 0, 0, 0x90}).find("je") != std::string::npos);
  CHECK(Refusal({0x55, 0xe8, 0, 1, 0, 0, 0x90}).find("call") != std::string::npos);
  CHECK(Refusal({0xe9, 0, 1, 0, 0, 0x90}).find("jmp") != std::string::npos);
  CHECK(Refusal({0xff, 0x25, 0, 0, 0, 0}).find("jmp") != std::string::npos);
  CHECK(Refusal({0x55, 0xc3, 0x90, 0x90, 0x90, 0x90}).find("ret") != std::string::npos);
  CHECK(Refusal({0xcc, 0x48, 0x89, 0xe5, 0x90, 0x90}).find("int3") != std::string::npos);
  CHECK(Refusal({0xe2, 0x02, 0x90, 0x90, 0x90, 0x90}).find("loop") != std::string::npos);
  CHECK(Refusal({0xe3, 0x02, 0x90, 0x90, 0x90, 0x90}).find("jrcxz") != std::string::npos);
  CHECK(Refusal({0x0f, 0x0b, 0x90, 0x90, 0x90, 0x90}).find("ud2") != std::string::npos);
  CHECK(Refusal({0x0f, 0x05, 0x90, 0x90, 0x90, 0x90}).find("syscall") != std::string::npos);
  CHECK(Refusal({0xf4, 0x90, 0x90, 0x90, 0x90, 0x90}).find("hlt") != std::string::npos);
}

TEST_CASE("Invalid or too few bytes are refused") {
  CHECK(Refusal({0x06, 0x90, 0x90, 0x90, 0x90, 0x90}).find("not understood") != std::string::npos);
  CHECK(Refusal({0x55, 0x48, 0x89}).find("not understood") != std::string::npos);
  CHECK(Refusal({}).find("not understood") != std::string::npos);
}

TEST_CASE("A loop into the moved bytes is refused, one to the first byte is not") {
  // 0: push rbp; 1: mov rbp, rsp; 4: dec edi; 6: jne
  Bytes code = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xf9, 0xc9, 0xc3};
  CHECK(Refusal(code).find("branches back") != std::string::npos);  // to 1
  code[7] = 0xf8;                                                   // to 0
  CHECK(Refusal(code).empty());
}

TEST_CASE("The landing pad of indirect branches is recognised") {
  CHECK(EndbrSize(Bytes{0xf3, 0x0f, 0x1e, 0xfa, 0x55}) == 4);
  CHECK(EndbrSize(Bytes{0xf3, 0x0f, 0x1e}) == 0);
  CHECK(EndbrSize(Bytes{0x55, 0x48, 0x89, 0xe5}) == 0);
}

}  // namespace
}  // namespace heaprec::arch
