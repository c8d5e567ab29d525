// What a user can request of the files, and how many of the oldest chunks must be dropped for it.
//
// Units:    bytes of the file; ns since the start of the recording.
// Context:  drain. Pure: no clock, no file.
// Format:   a chunk is the unit that is dropped; docs/format/recording.md#chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "format/model/model.h"

namespace heaprec::writer {

// What a user can request of the files: size, age, durability.

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

class Retention {
 public:
  explicit Retention(const Limits& limits) : limits_(limits) {}

  // Maximum duration of a chunk, so that the file has enough chunks to drop few at a time.
  uint64_t ChunkNs() const;
  uint64_t ChunkBytes() const;  // the same, in bytes of the file

  // A new file, which has only its header.
  void BeginFile(uint64_t bytes, uint64_t begin_ns);
  // Later blocks belong to this chunk; a chunk without bytes is removed.
  void BeginChunk(const format::FileStart& start);
  void Appended(uint64_t bytes);

  uint64_t bytes() const { return bytes_; }
  bool ChunkIsFull(uint64_t now_ns) const;
  bool FileIsFull(uint64_t now_ns) const;  // according to rotate_*

  // Returns the number of oldest chunks to drop; 0: none yet.
  size_t ChunksToDrop(uint64_t now_ns) const;
  struct Chunk {
    uint64_t offset = 0;
    format::FileStart start;
  };
  // Returns the first remaining chunk after `chunks` of them (fewer than all) are dropped.
  const Chunk& FirstKept(size_t chunks) const { return chunks_[chunks]; }
  // Call after dropping them; the file's header now has `header_bytes`.
  void Dropped(size_t chunks, uint64_t header_bytes);
  // Whether `bytes` more would exceed max_bytes by more than a chunk.
  bool IsBeyond(uint64_t bytes) const;

 private:
  const Limits limits_;
  uint64_t bytes_ = 0, begin_ns_ = 0;
  std::deque<Chunk> chunks_;
};

}  // namespace heaprec::writer
