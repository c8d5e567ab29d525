// What a user may ask of the files: how big, how old, how soon durable.
#pragma once

#include <cstdint>

namespace heaprec::writer {

// 0: no bound.
struct Limits {
  uint64_t max_bytes = 0, max_age_ns = 0;    // of what a file keeps: older chunks are dropped
  uint64_t rotate_bytes = 0, rotate_ns = 0;  // of a file: the recording goes on in the next
  bool drops() const { return max_bytes > 0 || max_age_ns > 0; }
};

// Between two fdatasync.
struct SyncPolicy {
  uint64_t every_ns = 5'000'000'000;  // 0: after each block
  bool never = false;
};

}  // namespace heaprec::writer
