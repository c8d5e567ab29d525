#include "format/chunk_span.h"

#include <algorithm>
#include <array>

#include "format/layout.h"

namespace heaprec::format {
namespace {

// The sequence number of the recording's chunk that begins here.
std::optional<uint32_t> ChunkHere(Bytes bytes, const FileHeader& header) {
  const auto chunk = DecodeChunkHeader(bytes.first(std::min(bytes.size(), kChunkHeaderBytes)));
  if (!chunk || chunk->recording != header.recording_id) return std::nullopt;
  return chunk->sequence;
}

}  // namespace

std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes) {
  std::array<std::byte, std::max(kBlockHeaderBytes, kChunkHeaderBytes)> buffer;
  const auto peek = [&](uint64_t at) {
    const auto read = source->ReadAt(at, buffer.data(), buffer.size());
    return Bytes(buffer).first(read ? *read : 0);
  };
  const auto own = ChunkHere(peek(offset), header);
  if (!own) return std::nullopt;
  const uint64_t seed = HeaderSeed(header.version, header.recording_id);
  uint64_t raw_bytes = 0;
  for (uint64_t at = offset + kChunkHeaderBytes;;) {
    const Bytes bytes = peek(at);
    if (const auto next = ChunkHere(bytes, header)) {
      return *next > *own ? std::optional(ChunkSpan{offset, at}) : std::nullopt;
    }
    const auto block = DecodeBlockHeader(bytes, seed);
    if (!block) return std::nullopt;
    raw_bytes += block->raw_bytes;
    if (raw_bytes > most_raw_bytes) return std::nullopt;
    at += kBlockHeaderBytes + block->payload_bytes;
  }
}

}  // namespace heaprec::format
