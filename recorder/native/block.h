// The 16 bytes in front of each block that we hand out: its size and its site, so that free() needs no table.
//
//     base                        what the program has
//     | pad of `offset` - 16 ... | Header | size bytes ...
//
// The program's address is aligned as malloc's is; where it asked for more, `offset` is that alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heaprec::native {

struct Header {
  uint64_t size;
  uint32_t site : 24;
  uint32_t offset_log2 : 6;
  uint32_t is_early : 1;  // from libc's own malloc, before ours knew whom to ask
  uint32_t is_counted : 1;
  uint32_t mark;  // tells blocks of ours from those of others
};
inline constexpr size_t kHeaderBytes = 16;
static_assert(sizeof(Header) == kHeaderBytes);

inline uint32_t MarkOf(const void* block) {
  return 0x68724e56U ^ static_cast<uint32_t>(std::bit_cast<uintptr_t>(block) >> 4);
}

inline Header* HeaderOf(void* block) {
  return reinterpret_cast<Header*>(static_cast<std::byte*>(block) - kHeaderBytes);
}

// `offset`: a power of two, at least kHeaderBytes. In two stores.
inline void* Begin(void* base, size_t offset, Header header) {
  auto* const block = static_cast<std::byte*>(base) + offset;
  header.offset_log2 = static_cast<uint32_t>(std::countr_zero(offset)) & 63U;
  header.mark = MarkOf(block);
  *HeaderOf(block) = header;
  return block;
}

inline bool IsOurs(void* block) { return HeaderOf(block)->mark == MarkOf(block); }

inline void* BaseOf(void* block) {
  return static_cast<std::byte*>(block) - (size_t{1} << HeaderOf(block)->offset_log2);
}

}  // namespace heaprec::native
