#include "format/recordings_in_file.h"

#include <algorithm>
#include <optional>

#include "format/file_header.h"
#include "format/layout.h"

namespace heaprec::format {
namespace {

constexpr size_t kPiece = 1 << 20;

class Search {
 public:
  explicit Search(ByteSource* source) : source_(*source) {}

  // Behind the whole header of a recording that begins at `at`; nullopt: none does.
  std::optional<uint64_t> HeaderEnd(uint64_t at) {
    const Bytes prefix = Peek(at, kFilePrefixBytes);
    const auto size = FileHeaderBytes(prefix);
    if (!size) return std::nullopt;
    const Bytes bytes = Peek(at, *size);
    if (bytes.size() < *size || !DecodeFileHeader(bytes)) return std::nullopt;
    return at + *size;
  }

  // Behind the chunk header or the block that seems to begin at `at`.
  std::optional<uint64_t> PartEnd(uint64_t at) {
    ByteCursor cursor(Peek(at, sizeof(uint64_t) + sizeof(uint32_t)));
    const uint64_t magic = cursor.U64();
    const uint32_t payload = cursor.U32();
    if (!cursor.ok()) return std::nullopt;
    if (magic == kChunkMagic) return at + kChunkHeaderBytes;
    if (magic == kBlockMagic && payload <= kMaxBlockPayloadBytes) return at + kBlockHeaderBytes + payload;
    return std::nullopt;
  }

  // The next recording at or behind `at`.
  std::optional<uint64_t> NextHeader(uint64_t at) {
    ByteBuffer magic;
    ByteSink(&magic).U64(kFileMagic);
    for (;;) {
      const Bytes seen = Peek(at, kPiece);
      if (seen.size() < magic.size()) return std::nullopt;
      const ByteBuffer piece(seen.begin(), seen.end());
      for (auto found = piece.begin();; ++found) {
        found = std::search(found, piece.end(), magic.begin(), magic.end());
        if (found == piece.end()) break;
        const auto begin = at + static_cast<uint64_t>(found - piece.begin());
        if (HeaderEnd(begin)) return begin;
      }
      at += piece.size() - magic.size() + 1;
    }
  }

 private:
  Bytes Peek(uint64_t offset, size_t size) {
    if (buffer_.size() < size) buffer_.resize(size);
    const auto read = source_.ReadAt(offset, buffer_.data(), size);
    return Bytes(buffer_).first(read ? std::min(*read, size) : 0);
  }

  ByteSource& source_;
  ByteBuffer buffer_;
};

}  // namespace

std::vector<uint64_t> RecordingsIn(ByteSource* source) {
  std::vector<uint64_t> begins{0};
  Search search(source);
  std::optional<uint64_t> at = search.HeaderEnd(0);
  while (at) {
    if (const auto part = search.PartEnd(*at)) {
      at = part;
      continue;
    }
    // A header, the end, or damage.
    auto next = search.NextHeader(*at);
    if (!next) break;
    begins.push_back(*next);
    at = search.HeaderEnd(*next);
  }
  return begins;
}

}  // namespace heaprec::format
