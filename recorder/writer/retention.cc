#include "recorder/writer/retention.h"

#include <algorithm>

namespace heaprec::writer {
namespace {

constexpr uint64_t kChunkNs = 60'000'000'000;
constexpr uint64_t kMinChunkNs = 1'000'000'000;
// Each time an eighth of the limit is dropped. So the file has at least three quarters of it, and a byte is copied six
// times before it is dropped.
constexpr uint64_t kChunksInBound = 8;
constexpr uint64_t kLeftOfBytes = 6;
constexpr uint64_t kPlaces = 16;

}  // namespace

uint64_t Retention::ChunkNs() const {
  uint64_t chunk_ns = kChunkNs;
  if (limits_.max_age_ns > 0) chunk_ns = std::min(chunk_ns, limits_.max_age_ns / kChunksInBound);
  return std::max(chunk_ns, kMinChunkNs);
}

uint64_t Retention::ChunkBytes() const {
  return limits_.max_bytes > 0 ? limits_.max_bytes / kChunksInBound : UINT64_MAX;
}

void Retention::BeginFile(uint64_t bytes, uint64_t begin_ns) {
  bytes_ = bytes;
  begin_ns_ = begin_ns;
  chunks_.clear();
}

void Retention::BeginChunk(const format::FileStart& start) {
  if (!chunks_.empty() && chunks_.back().offset == bytes_) chunks_.pop_back();
  if (!limits_.drops()) chunks_.clear();
  // If chunks are small compared to the limits, the file need not be able to begin with each of them.
  if (chunks_.size() >= 3) {
    const Chunk& before = chunks_[chunks_.size() - 2];
    const bool near_in_time =
        limits_.max_age_ns == 0 || start.begin_ns - before.start.begin_ns < limits_.max_age_ns / kPlaces;
    const bool near_in_bytes = limits_.max_bytes == 0 || bytes_ - before.offset < limits_.max_bytes / kPlaces;
    if (near_in_time && near_in_bytes) chunks_.pop_back();
  }
  chunks_.push_back({bytes_, start});
  chunks_.back().start.lane_positions.clear();  // the blocks contain them
}

void Retention::Appended(uint64_t bytes) { bytes_ += bytes; }

bool Retention::ChunkIsFull(uint64_t now_ns) const {
  const Chunk& chunk = chunks_.back();
  return now_ns - chunk.start.begin_ns >= ChunkNs() || bytes_ - chunk.offset >= ChunkBytes();
}

bool Retention::FileIsFull(uint64_t now_ns) const {
  return (limits_.rotate_bytes > 0 && bytes_ >= limits_.rotate_bytes) ||
         (limits_.rotate_ns > 0 && now_ns - begin_ns_ >= limits_.rotate_ns);
}

// Always keeps the current chunk, and a complete one before it: a file always has samples.
size_t Retention::ChunksToDrop(uint64_t now_ns) const {
  const size_t most = chunks_.size() > 2 ? chunks_.size() - 2 : 0;
  size_t old = 0;
  // A chunk ends where the next one begins.
  while (limits_.max_age_ns > 0 && old < most && chunks_[old + 1].start.begin_ns + limits_.max_age_ns <= now_ns) {
    ++old;
  }
  size_t big = 0;
  if (limits_.max_bytes > 0 && bytes_ + ChunkBytes() > limits_.max_bytes) {
    const uint64_t left = limits_.max_bytes / kChunksInBound * kLeftOfBytes;
    while (big < most && bytes_ - chunks_[big].offset > left) ++big;
  }
  return std::max(old, big);
}

void Retention::Dropped(size_t chunks, uint64_t header_bytes) {
  const uint64_t shift = chunks_[chunks].offset - header_bytes;
  begin_ns_ = chunks_[chunks].start.begin_ns;
  chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(chunks));
  for (Chunk& chunk : chunks_) chunk.offset -= shift;
  bytes_ -= shift;
}

bool Retention::IsBeyond(uint64_t bytes) const {
  return limits_.max_bytes > 0 && bytes_ + bytes > limits_.max_bytes + ChunkBytes();
}

}  // namespace heaprec::writer
