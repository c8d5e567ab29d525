#include "format/reader/header_copy.h"

#include <algorithm>
#include <utility>

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "format/codec/file_header.h"

namespace heaprec::format {
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
