// The 16-byte header before each block that malloc returns, so that free() needs no table.
//
//     base                       what the program has
//     | pad: `offset` - 16 ... | rest, word | size bytes ... | canary, with `check`
//
// For most blocks the word is sufficient: it has mark, site and size. It is next to the allocator's own data, so free()
// of a block that is not cached causes no additional cache miss. Large, aligned and early blocks also use `rest`. The
// program's address has malloc's alignment; a larger requested alignment is `offset`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/native/native_table.h"

namespace heaprec::native {

inline constexpr size_t kHeaderBytes = 16;

// From the top: mark, 32 bits; site, 13; size, 19. The mark is computed from the address. Compact headers, which
// consist of this word only, have one mark, and extended headers another. In glibc's blocks this word is a length below
// 2^32, which equals neither.
class HeaderWord {
 public:
  constexpr explicit HeaderWord(uint64_t value) : value_(value) {}
  // The bits that are equal in all words of a site.
  static constexpr uint64_t SitePrefix(uint32_t site) { return uint64_t{kMark} << 32 | uint64_t{site} << kSiteShift; }
  // `size`: less than kLarge.
  static HeaderWord Compact(const void* block, uint64_t seal, uint64_t size) {
    return HeaderWord(std::bit_cast<uintptr_t>(block) << 32 ^ (seal | size));
  }
  static HeaderWord Extended(const void* block, uint32_t site) {
    return HeaderWord(Compact(block, SitePrefix(site), 0).value_ ^ kExtended);
  }

  bool IsCompactFor(const void* block) const { return value_ >> 32 == MarkOf(block); }
  bool IsExtendedFor(const void* block) const { return HeaderWord(value_ ^ kExtended).IsCompactFor(block); }
  uint32_t Site() const { return static_cast<uint32_t>(value_) >> kSiteShift; }
  uint32_t Size() const { return static_cast<uint32_t>(value_) % kLarge; }
  uint64_t value() const { return value_; }

  static constexpr uint32_t kLarge = 1U << 19;

 private:
  static constexpr int kSiteShift = 19;
  static constexpr uint32_t kMark = 0x68724e56;
  static constexpr uint64_t kExtended = uint64_t{1} << 32;
  static_assert(format::kMaxNativeSites == 1U << (32 - kSiteShift));
  // Never 0 or 1, because blocks are aligned by 16.
  static uint32_t MarkOf(const void* block) { return static_cast<uint32_t>(std::bit_cast<uintptr_t>(block)) ^ kMark; }

  uint64_t value_;
};

inline uint64_t* WordAt(void* block) { return static_cast<uint64_t*>(block) - 1; }

struct Header {
  size_t size = 0;
  size_t offset = kHeaderBytes;  // a power of two
  uint32_t site = 0;
  bool is_counted = true;  // included in its site's counters
  bool is_early = false;   // from libc's own malloc, before the next allocator was found
  bool is_checked = false;
};

// The canary after a checked block.
inline constexpr size_t kCanaryBytes = 8;
inline uint64_t CanaryOf(const void* block) { return std::bit_cast<uintptr_t>(block) ^ 0x9e3779b97f4a7c15; }
inline bool IsWhole(const void* block, const Header& header) {
  uint64_t found = 0;
  std::memcpy(&found, static_cast<const std::byte*>(block) + header.size, kCanaryBytes);
  return found == CanaryOf(block);
}

inline void* Begin(void* base, const Header& header) {
  auto* const block = static_cast<std::byte*>(base) + header.offset;
  if (header.size < HeaderWord::kLarge && header.offset == kHeaderBytes && header.is_counted && !header.is_checked) {
    *WordAt(block) = HeaderWord::Compact(block, HeaderWord::SitePrefix(header.site), header.size).value();
    return block;
  }
  if (header.is_checked) {
    const uint64_t canary = CanaryOf(block);
    std::memcpy(block + header.size, &canary, kCanaryBytes);
  }
  WordAt(block)[-1] = header.size | uint64_t{header.is_checked} << 55 |
                      static_cast<uint64_t>(std::countr_zero(header.offset)) << 56 | uint64_t{header.is_counted} << 62 |
                      uint64_t{header.is_early} << 63;
  *WordAt(block) = HeaderWord::Extended(block, header.site).value();
  return block;
}

inline bool IsOurs(void* block) {
  const HeaderWord word(*WordAt(block));
  return word.IsCompactFor(block) || word.IsExtendedFor(block);
}

// The header of a block for which IsOurs is true.
inline Header HeaderOf(void* block) {
  const HeaderWord word(*WordAt(block));
  if (word.IsCompactFor(block)) return {.size = word.Size(), .site = word.Site()};
  const uint64_t rest = WordAt(block)[-1];
  return {.size = rest & ((uint64_t{1} << 55) - 1),
          .offset = size_t{1} << (rest >> 56 & 63U),
          .site = word.Site(),
          .is_counted = (rest >> 62 & 1U) != 0,
          .is_early = rest >> 63 != 0,
          .is_checked = (rest >> 55 & 1U) != 0};
}

// Marks the block as freed.
inline void Unmark(void* block) { *WordAt(block) = 0; }

}  // namespace heaprec::native
