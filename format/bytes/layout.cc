#include "format/bytes/layout.h"

#include <xxhash.h>

#include <algorithm>

namespace heaprec::format {
namespace {

// Both fixed headers end with the hash of everything before it.
void AppendHash(ByteBuffer* buffer, size_t begin, uint64_t seed = 0) {
  ByteSink(buffer).U64(Hash(Bytes(*buffer).subspan(begin), seed));
}

bool HashHolds(Bytes bytes, uint64_t magic, size_t size, uint64_t seed = 0) {
  if (bytes.size() < size) return false;
  if (ByteCursor(bytes).U64() != magic) return false;
  return ByteCursor(bytes.subspan(size - 8)).U64() == Hash(bytes.first(size - 8), seed);
}

}  // namespace

uint64_t Hash(Bytes bytes, uint64_t seed) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed); }

uint64_t HeaderSeed(const RecordingId& recording) { return ByteCursor(std::as_bytes(std::span(recording))).U64(); }

void AppendTo(ByteBuffer* buffer, const ChunkHeader& header) {
  const size_t begin = buffer->size();
  ByteSink sink(buffer);
  sink.U64(kChunkMagic);
  sink.U32(kChunkHeaderBytes);
  sink.U32(header.sequence);
  sink.Append(std::as_bytes(std::span(header.recording)));
  AppendHash(buffer, begin);
}

void AppendTo(ByteBuffer* buffer, const BlockHeader& header, uint64_t seed) {
  const size_t begin = buffer->size();
  ByteSink sink(buffer);
  sink.U64(kBlockMagic);
  sink.U32(header.payload_bytes);
  sink.U32(header.raw_bytes);
  sink.U32(header.flags);
  sink.U32(header.chunk);
  sink.U32(header.sequence);
  sink.U32(kBlockHeaderBytes);
  sink.U64(header.begin_ns);
  sink.U64(header.end_ns);
  sink.U64(header.payload_hash);
  sink.U64(header.raw_hash);
  AppendHash(buffer, begin, seed);
}

std::optional<ChunkHeader> DecodeChunkHeader(Bytes bytes) {
  if (!HashHolds(bytes, kChunkMagic, kChunkHeaderBytes)) return std::nullopt;
  ByteCursor cursor(bytes.subspan(8));
  ChunkHeader header;
  if (cursor.U32() != kChunkHeaderBytes) return std::nullopt;
  header.sequence = cursor.U32();
  const Bytes id = cursor.Take(header.recording.size());
  std::ranges::transform(id, header.recording.begin(), [](std::byte byte) { return static_cast<uint8_t>(byte); });
  return header;
}

std::optional<BlockHeader> DecodeBlockHeader(Bytes bytes, uint64_t seed) {
  if (!HashHolds(bytes, kBlockMagic, kBlockHeaderBytes, seed)) return std::nullopt;
  ByteCursor cursor(bytes.subspan(8));
  BlockHeader header;
  header.payload_bytes = cursor.U32();
  header.raw_bytes = cursor.U32();
  header.flags = cursor.U32();
  header.chunk = cursor.U32();
  header.sequence = cursor.U32();
  const uint32_t size = cursor.U32();
  header.begin_ns = cursor.U64();
  header.end_ns = cursor.U64();
  header.payload_hash = cursor.U64();
  header.raw_hash = cursor.U64();
  if (size != kBlockHeaderBytes || header.payload_bytes > kMaxBlockPayloadBytes) return std::nullopt;
  if (header.raw_bytes > kMaxBlockRawBytes) return std::nullopt;
  return header;
}

}  // namespace heaprec::format
