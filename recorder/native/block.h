// The 16 bytes in front of each block that we hand out: its size and its site, so that free() needs no table.
//
//     base                       what the program has
//     | pad: `offset` - 16 ... | size, word | size bytes ...
//
// The program's address is aligned as malloc's is; where it asked for more, `offset` is that alignment. The word is
// written and read whole: a block is often freed when its header is still on its way to the cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heaprec::native {

struct Header {
  uint64_t size;
  uint64_t word;  // site: 24 bits; log2 of the offset: 6; early: 1; counted: 1; mark: 32

  static constexpr uint64_t kEarly = uint64_t{1} << 30;    // from libc's own malloc, before ours knew whom to ask
  static constexpr uint64_t kCounted = uint64_t{1} << 31;  // its site has it

  uint32_t Site() const { return static_cast<uint32_t>(word) & 0xffffffU; }
  size_t Offset() const { return size_t{1} << (word >> 24 & 63U); }
  bool IsEarly() const { return (word & kEarly) != 0; }
  bool IsCounted() const { return (word & kCounted) != 0; }
};
inline constexpr size_t kHeaderBytes = 16;
static_assert(sizeof(Header) == kHeaderBytes);

// Tells blocks of ours from those of others.
inline uint32_t MarkOf(const void* block) {
  return 0x68724e56U ^ static_cast<uint32_t>(std::bit_cast<uintptr_t>(block) >> 4);
}

inline Header* HeaderOf(void* block) {
  return reinterpret_cast<Header*>(static_cast<std::byte*>(block) - kHeaderBytes);
}

inline bool IsOurs(void* block) { return static_cast<uint32_t>(HeaderOf(block)->word >> 32) == MarkOf(block); }

// `offset`: a power of two, at least kHeaderBytes. `flags`: site, kEarly, kCounted.
inline void* Begin(void* base, size_t offset, size_t size, uint64_t flags) {
  auto* const block = static_cast<std::byte*>(base) + offset;
  *HeaderOf(block) = {
      size, flags | static_cast<uint64_t>(std::countr_zero(offset)) << 24 | static_cast<uint64_t>(MarkOf(block)) << 32};
  return block;
}

// It is nobody's any more.
inline void Unmark(void* block) { HeaderOf(block)->word = 0; }

}  // namespace heaprec::native
