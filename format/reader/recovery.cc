#include "format/reader/recovery.h"

#include <algorithm>
#include <utility>

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "format/codec/file_header.h"

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

namespace {

// Enough for the longest possible header and a first chunk.
constexpr size_t kLookAt = kMaxFileFieldsBytes + (4 << 20);
constexpr size_t kPiece = 64 << 10;

// Returns the header's copy in the block that begins with `bytes`.
std::optional<FileHeader> CopyIn(Bytes bytes, const RecordingId& recording) {
  const auto header = DecodeBlockHeader(bytes, HeaderSeed(recording));
  if (!header || header->payload_bytes > bytes.size() - kBlockHeaderBytes) return std::nullopt;
  BlockUnpacker unpacker;
  ByteBuffer raw;
  if (unpacker.Unpack(*header, bytes.subspan(kBlockHeaderBytes, header->payload_bytes), &raw) != nullptr) {
    return std::nullopt;
  }
  ByteCursor cursor(raw);
  while (cursor.ok() && !cursor.at_end()) {
    const Framed section = TakeFramed(&cursor);
    if (!cursor.ok() || section.number != static_cast<uint64_t>(Section::kHeader)) continue;
    auto fields = DecodeHeaderFields(section.body);
    if (fields && fields->recording_id == recording) return std::move(*fields);
  }
  return std::nullopt;
}

}  // namespace

std::optional<FileHeader> FindHeaderCopy(ByteSource* source) {
  ByteBuffer bytes;
  for (size_t got = kPiece; got == kPiece && bytes.size() < kLookAt;) {
    const size_t end = bytes.size();
    bytes.resize(end + kPiece);
    const auto read = source->ReadAt(end, bytes.data() + end, kPiece);
    got = read ? *read : 0;
    bytes.resize(end + got);
  }
  const ByteBuffer magic = [] {
    ByteBuffer buffer;
    ByteSink(&buffer).U64(kChunkMagic);
    return buffer;
  }();
  for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), magic.begin(), magic.end())) != bytes.end(); ++at) {
    const auto offset = static_cast<size_t>(at - bytes.begin());
    const auto chunk = DecodeChunkHeader(Bytes(bytes).subspan(offset));
    if (!chunk) continue;
    auto fields = CopyIn(Bytes(bytes).subspan(offset + kChunkHeaderBytes), chunk->recording);
    if (fields) return fields;
  }
  return std::nullopt;
}

}  // namespace heaprec::format
