// Numbers by keys of 64 bits that are hashes already. One place in memory is looked at, where a table of nodes takes
// three: most keys are asked for once with every chunk, when nothing of them is in a cache any more.
//
// Memory:   at most 32 bytes for each key.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heaprec::tools {

class KeyTable {
 public:
  // The number of the key; new keys have the number kNew, for the caller to change. Valid until the next call.
  static constexpr uint32_t kNew = 0xffffffff;
  uint32_t& operator[](uint64_t key) {
    if (key == 0) key = 1;  // 0: free
    if (2 * (taken_ + 1) > entries_.size()) Grow();
    Entry& entry = Find(key);
    if (entry.key == 0) {
      entry.key = key;
      ++taken_;
    }
    return entry.number;
  }

 private:
  static constexpr size_t kFirstEntries = 64;
  struct Entry {
    uint64_t key = 0;
    uint32_t number = kNew;
  };

  Entry& Find(uint64_t key) {
    const size_t mask = entries_.size() - 1;
    size_t at = key & mask;
    while (entries_[at].key != 0 && entries_[at].key != key) at = (at + 1) & mask;
    return entries_[at];
  }
  void Grow() {
    std::vector<Entry> before(entries_.empty() ? kFirstEntries : 2 * entries_.size());
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.key != 0) Find(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_;  // a power of two
  size_t taken_ = 0;
};

}  // namespace heaprec::tools
