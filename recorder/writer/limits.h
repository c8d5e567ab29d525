// What a user can request of the files: size, age, durability.
#pragma once

#include <cstdint>

namespace heaprec::writer {

// 0: no limit.
struct Limits {
  uint64_t max_bytes = 0, max_age_ns = 0;    // limits for the data in a file: older chunks are dropped
  uint64_t rotate_bytes = 0, rotate_ns = 0;  // limits per file: the recording continues in the next one
  bool drops() const { return max_bytes > 0 || max_age_ns > 0; }
  // Compared with these limits a block of two seconds is large.
  bool are_close() const {
    return (max_bytes > 0 && max_bytes < uint64_t{64} << 20) || (max_age_ns > 0 && max_age_ns < 600'000'000'000);
  }
};

// Between two calls of fdatasync.
struct SyncPolicy {
  uint64_t every_ns = 5'000'000'000;  // 0: after each block
  bool never = false;
};

}  // namespace heaprec::writer
