// Objects and bytes by class, for one walk: 30 KiB on the stack, no heap.
//
// Context:  alloc or gc.
// Threads:  one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "throttle/random.h"

namespace heaprec::sources {

class ClassCounts {
 public:
  static constexpr size_t kMaxClasses = 1024;

  struct Entry {
    uint64_t klass;  // the class' address
    uint64_t objects, bytes;
  };

  // False: there is no room for another class.
  bool Add(const void* klass, uint64_t bytes) {
    if (count_ == 0 || entries_[last_].klass != Address(klass)) {
      if (!Find(klass)) return false;
    }
    ++entries_[last_].objects;
    entries_[last_].bytes += bytes;
    return true;
  }
  void Clear() {
    slots_.fill(0);
    count_ = 0;
  }
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

 private:
  static constexpr size_t kSlots = 2 * kMaxClasses;

  static uint64_t Address(const void* klass) { return reinterpret_cast<uintptr_t>(klass); }

  // Sets last_.
  bool Find(const void* klass) {
    size_t slot = throttle::Mix64(Address(klass)) % kSlots;
    for (; slots_[slot] != 0; slot = (slot + 1) % kSlots) {
      last_ = slots_[slot] - size_t{1};
      if (entries_[last_].klass == Address(klass)) return true;
    }
    if (count_ == kMaxClasses) return false;
    entries_[count_] = {Address(klass), 0, 0};
    last_ = count_++;
    slots_[slot] = static_cast<uint16_t>(count_);
    return true;
  }

  std::array<uint16_t, kSlots> slots_{};  // index of the entry + 1
  size_t count_ = 0, last_ = 0;
  std::array<Entry, kMaxClasses> entries_;  // NOLINT(cppcoreguidelines-pro-type-member-init): count_ are in use
};

}  // namespace heaprec::sources
