#include "format/reader/recordings_in_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/codec/file_header.h"
#include "format/reader/repaired_source.h"

namespace heaprec::format {
namespace {

constexpr size_t kPiece = 1 << 20;
constexpr uint64_t kMaxBeforeChunk = 8 << 20;  // a file that is not a recording is not searched further
// A hostile file may repeat the magic number, each time with the length of a large header that does not follow. Reads
// of such headers are limited to this plus the offset in the file.
constexpr uint64_t kMaxWasted = 16 << 20;
// All magic numbers begin with these bytes.
constexpr std::array kMagicBegins{static_cast<std::byte>(kFileMagic & 0xff), std::byte{'H'}, std::byte{'R'}};

class Search {
 public:
  explicit Search(ByteSource* source) : source_(source) {}

  // Returns the end of the recording header that begins at `at`; nullopt: there is no header.
  std::optional<uint64_t> HeaderEnd(uint64_t at) {
    const auto size = FileHeaderBytes(Peek(at, kFilePrefixBytes));
    if (!size || wasted_ > kMaxWasted + at) return std::nullopt;
    const Bytes bytes = Peek(at, *size);
    const bool is_header = bytes.size() == *size && Take(bytes);
    if (!is_header) wasted_ += bytes.size();
    return is_header ? std::optional(at + *size) : std::nullopt;
  }

  // Returns the end of the chunk header, block or parity record at `at`, if it belongs to the current recording.
  // `begin`: start of the recording.
  std::optional<uint64_t> PartEnd(uint64_t begin, uint64_t at) {
    const Bytes bytes = Peek(at, kBlockHeaderBytes);
    if (const auto chunk = DecodeChunkHeader(bytes)) {
      if (!recording_) recording_ = chunk->recording;
      if (chunk->recording != *recording_) return std::nullopt;
      chunks_.AddChunkHeader(at - begin, *chunk);
      return at + kChunkHeaderBytes;
    }
    if (const auto parity = DecodeParityHead(bytes)) {
      chunks_.AddParity();
      return at + parity->record_bytes();
    }
    const auto block = recording_ ? DecodeBlockHeader(bytes, HeaderSeed(*recording_)) : std::nullopt;
    if (!block) return std::nullopt;
    chunks_.AddBlock(at - begin, *block);
    return at + kBlockHeaderBytes + block->payload_bytes;
  }

  // Call after the last part of a recording.
  ChunkSpans TakeChunks() { return std::exchange(chunks_, {}).Take(); }
  // Ignores further chunks of this recording.
  void StopChunks() { chunks_.Stop(); }

  bool Repair(uint64_t at) { return source_.RepairBehind(at).has_value(); }

  struct Found {
    uint64_t part = 0;                  // where reading continues
    std::optional<uint64_t> recording;  // start of the recording to which it belongs; nullopt: the current one
  };
  // Returns the next part after invalid bytes at `damage`.
  std::optional<Found> Behind(uint64_t damage) {
    const bool is_known = recording_.has_value();
    for (auto at = NextMagic(damage + 1); at; at = NextMagic(*at + 1)) {
      if (!is_known && *at > kMaxBeforeChunk) break;
      if (PartEnd(0, *at)) return Found{*at, std::nullopt};
      if (const auto end = HeaderEnd(*at)) return Found{*end, is_known ? at : std::nullopt};
      // The header of a recording is damaged, but its chunks have copies of it.
      if (AdoptChunk(*at)) return Found{*at, damage};
    }
    return std::nullopt;
  }

 private:
  bool Take(Bytes bytes) {
    const auto header = DecodeFileHeader(bytes);
    if (!header) return false;
    recording_ = header->recording_id;
    return true;
  }

  bool AdoptChunk(uint64_t at) {
    const auto chunk = DecodeChunkHeader(Peek(at, kChunkHeaderBytes));
    if (!chunk) return false;
    const uint64_t seed = HeaderSeed(chunk->recording);
    if (!DecodeBlockHeader(Peek(at + kChunkHeaderBytes, kBlockHeaderBytes), seed)) return false;
    recording_ = chunk->recording;
    return true;
  }

  std::optional<uint64_t> NextMagic(uint64_t at) {
    if (at < piece_at_) piece_.clear();
    for (;;) {
      if (at < piece_at_ + piece_.size()) {
        const auto from = piece_.begin() + static_cast<std::ptrdiff_t>(at - piece_at_);
        const auto found = std::search(from, piece_.end(), kMagicBegins.begin(), kMagicBegins.end());
        if (found != piece_.end()) return piece_at_ + static_cast<uint64_t>(found - piece_.begin());
        at = std::max(at, piece_at_ + piece_.size() - std::min(piece_.size(), kMagicBegins.size() - 1));
      }
      const Bytes bytes = Peek(at, kPiece);
      if (bytes.size() < kMagicBegins.size()) return std::nullopt;
      piece_.assign(bytes.begin(), bytes.end());
      piece_at_ = at;
    }
  }

  Bytes Peek(uint64_t offset, size_t size) { return source_.Peek(offset, size, &buffer_); }

  RepairedSource source_;
  ChunkSpanBuilder chunks_;
  std::optional<RecordingId> recording_;  // the current one, once its id is known
  uint64_t wasted_ = 0;                   // bytes read for headers that were not valid
  ByteBuffer buffer_;
  ByteBuffer piece_;  // buffer of NextMagic
  uint64_t piece_at_ = 0;
};

}  // namespace

std::vector<RecordingSpan> RecordingsIn(ByteSource* source) {
  std::vector<RecordingSpan> found{{}};
  Search search(source);
  const auto begin = [&](uint64_t at) {
    found.back().chunks = search.TakeChunks();
    found.push_back({.begin = at, .chunks = {}});
  };
  for (uint64_t at = search.HeaderEnd(0).value_or(0); found.size() <= kMaxRecordings;) {
    if (const auto end = search.PartEnd(found.back().begin, at)) {
      at = *end;
    } else if (const auto next = at > 0 ? search.HeaderEnd(at) : std::nullopt) {
      begin(at);
      at = *next;
    } else {
      search.StopChunks();
      if (search.Repair(at)) continue;
      const auto behind = search.Behind(at);
      if (!behind) break;
      if (behind->recording) begin(*behind->recording);
      at = behind->part;
    }
  }
  found.back().chunks = search.TakeChunks();
  return found;
}

}  // namespace heaprec::format
