// Headers of blocks: what is written is read, and what others keep in the same place is taken for none.
//
// Random: std::mt19937_64 with the seed below.
#include "recorder/native_count/block_header.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

namespace heaprec::native {
namespace {

bool Equal(const Header& a, const Header& b) {
  return a.size == b.size && a.offset == b.offset && a.site == b.site && a.is_counted == b.is_counted &&
         a.is_early == b.is_early && a.is_checked == b.is_checked;
}

}  // namespace

TEST_CASE("A header returns what was written, for any size, site and alignment") {
  alignas(4096) static std::byte memory[3 * 4096];
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{HeaderWord::kLarge - 1}, size_t{HeaderWord::kLarge}, size_t{1} << 47}) {
    for (const size_t offset : {16U, 32U, 4096U}) {
      for (const uint32_t site : {0U, 1U, format::kMaxNativeSites - 1}) {
        for (const int flags : {0, 1, 2, 3, 5}) {
          // What is checked has something behind it, which needs room.
          const bool is_checked = (flags & 4) != 0 && size < 4096;
          const Header header{size, offset, site, (flags & 1) != 0, (flags & 2) != 0 && (flags & 1) == 0, is_checked};
          void* const block = Begin(memory, header);
          REQUIRE(block == memory + offset);
          REQUIRE(IsOurs(block));
          REQUIRE(Equal(HeaderOf(block), header));
          Unmark(block);
          REQUIRE_FALSE(IsOurs(block));
        }
      }
    }
  }
}

#ifndef __SANITIZE_ADDRESS__  // what is in front of a block is read
TEST_CASE("Data of an allocator before its own blocks is no header") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    void* volatile given = std::malloc(random() % 5000);  // the compiler need not know from whom
    void* const block = given;
    REQUIRE_FALSE(IsOurs(block));
    if (i % 3 != 0) std::free(block);  // what is left makes lengths and flags differ
  }
}
#endif

TEST_CASE("Writing past the end of a checked block is detected") {
  alignas(16) std::byte memory[256] = {};
  for (const size_t size : {0U, 1U, 15U, 16U, 100U}) {
    auto* const block = static_cast<std::byte*>(Begin(memory, {.size = size, .site = 5, .is_checked = true}));
    std::memset(block, 0xff, size);
    CHECK(IsWhole(block, HeaderOf(block)));
    block[size] ^= std::byte{1};
    CHECK_FALSE(IsWhole(block, HeaderOf(block)));
  }
}

TEST_CASE("A header that was copied to another place is invalid there") {
  alignas(16) std::byte memory[256] = {};
  void* const block = Begin(memory, {.size = 10, .site = 5});
  for (size_t at = 32; at < sizeof memory; at += 16) {
    void* const other = memory + at;
    *WordAt(other) = *WordAt(block);
    CHECK_FALSE(IsOurs(other));
  }
}

}  // namespace heaprec::native
