// Finds the entries of a vector by content: a hash table of their indices, four bytes each.
//
// Context:  drain (it allocates).
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/model/model.h"

namespace heaprec::format {

// Spreads words of little entropy over all bits (the finalizer of MurmurHash3).
inline uint64_t MixWord(uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdU;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53U;
  return word ^ (word >> 33);
}

class IndexTable {
 public:
  // Returns the entry with this hash for which is_same(index) holds; kNone if there is none.
  template <typename IsSame>
  Index Find(uint64_t hash, const IsSame& is_same) const {
    if (slots_.empty()) return kNone;
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == kNone || is_same(slots_[at])) return slots_[at];
    }
  }

  // Does the same, but if there is none, append() adds it to the `size` existing entries.
  template <typename IsSame, typename Append, typename HashOf>
  Index FindOrAdd(uint64_t hash, const IsSame& is_same, size_t size, const Append& append, const HashOf& hash_of) {
    const Index known = Find(hash, is_same);
    if (known != kNone) return known;
    append();
    Add(static_cast<Index>(size), hash_of);
    return static_cast<Index>(size);
  }

  // Adds the next entry; indices are added from 0, one by one. hash_of(index) returns the hash of each existing entry.
  template <typename HashOf>
  void Add(Index index, const HashOf& hash_of) {
    // Stays at most three quarters full, so that searches are short.
    if (slots_.size() * 3 < (size_t{index} + 1) * 4) {
      slots_.assign(slots_.empty() ? kFirstSlots : slots_.size() * 2, kNone);
      for (Index old = 0; old < index; ++old) Place(hash_of(old), old);
    }
    Place(hash_of(index), index);
  }

  uint64_t bytes() const { return slots_.capacity() * sizeof(Index); }

 private:
  static constexpr size_t kFirstSlots = 64;
  size_t mask() const { return slots_.size() - 1; }
  void Place(uint64_t hash, Index index) {
    size_t at = hash & mask();
    while (slots_[at] != kNone) at = (at + 1) & mask();
    slots_[at] = index;
  }

  std::vector<Index> slots_;  // their number is a power of two
};

}  // namespace heaprec::format
