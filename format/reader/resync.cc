#include "format/reader/resync.h"

#include <algorithm>

#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

constexpr size_t kStride = 64 << 10;
constexpr auto kMagicFirst = static_cast<std::byte>(kChunkMagic & 0xff);
static_assert((kChunkMagic & 0xff) == (kBlockMagic & 0xff));

uint64_t TrailingZeros(Bytes bytes) {
  const auto last = std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte byte) { return byte != std::byte{0}; });
  return static_cast<uint64_t>(last - bytes.rbegin());
}

}  // namespace

void Resync::Start(uint64_t offset) {
  next_ = end_ = offset;
  zeros_ = 0;
}

bool Resync::BeginsHere(Bytes bytes) {
  if (DecodeBlockHeader(bytes, HeaderSeed(recording_))) return true;
  const auto chunk = DecodeChunkHeader(bytes);
  return chunk && chunk->recording == recording_;
}

std::optional<uint64_t> Resync::Find() {
  // Each stride is read with enough bytes after it to decode a header that begins in it.
  constexpr size_t kPiece = kStride + kBlockHeaderBytes;
  ByteBuffer buffer;
  for (;;) {
    const Bytes bytes = source_->Peek(next_, kPiece, &buffer);
    if (bytes.empty()) return std::nullopt;
    const uint64_t zeros = TrailingZeros(bytes);
    zeros_ = zeros == bytes.size() ? zeros_ + zeros : zeros;
    end_ = next_ + bytes.size();
    const bool at_end = bytes.size() < kPiece;
    // At the current end a header may be incomplete: it is read again when the file has grown.
    const size_t complete = at_end ? bytes.size() - std::min(bytes.size(), kBlockHeaderBytes - 1) : kStride;
    const size_t looked_at = at_end ? bytes.size() : kStride;
    for (size_t i = 0; i < looked_at; ++i) {
      i = static_cast<size_t>(std::find(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(looked_at), kMagicFirst) -
                              bytes.begin());
      if (i == looked_at) break;
      if (!BeginsHere(bytes.subspan(i))) continue;
      next_ += i;
      return next_;
    }
    next_ += complete;
    if (at_end) return std::nullopt;
  }
}

}  // namespace heaprec::format
