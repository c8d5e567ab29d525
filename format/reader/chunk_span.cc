#include "format/reader/chunk_span.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/bytes/layout.h"
#include "format/bytes/parity.h"

namespace heaprec::format {
namespace {

// The sequence number of the recording's chunk that begins here.
std::optional<uint32_t> ChunkHere(Bytes bytes, const FileHeader& header) {
  const auto chunk = DecodeChunkHeader(bytes.first(std::min(bytes.size(), kChunkHeaderBytes)));
  if (!chunk || chunk->recording != header.recording_id) return std::nullopt;
  return chunk->sequence;
}

// The size of the whole parity record at `offset`, which begins with `bytes`; 0: there is none.
uint64_t ParityHere(ByteSource* source, uint64_t offset, Bytes bytes) {
  const auto shape = DecodeParityHead(bytes);
  if (!shape) return 0;
  ByteBuffer record(shape->record_bytes());
  const auto read = source->ReadAt(offset, record.data(), record.size());
  return read && *read == record.size() && WhyBadParityRecord(*shape, record) == nullptr ? record.size() : 0;
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
  const uint64_t seed = HeaderSeed(header.recording_id);
  uint64_t raw_bytes = 0, roll_up = 0, roll_up_end = 0;
  uint64_t end = offset + kChunkHeaderBytes;
  for (uint64_t at = end;;) {
    const Bytes bytes = peek(at);
    if (const auto next = ChunkHere(bytes, header)) {
      return *next > *own ? std::optional(ChunkSpan{offset, end, at, roll_up, roll_up_end, *own}) : std::nullopt;
    }
    if (const uint64_t parity = ParityHere(source, at, bytes)) {
      at += parity;
      continue;
    }
    const auto block = DecodeBlockHeader(bytes, seed);
    if (!block) return std::nullopt;
    raw_bytes += block->raw_bytes;
    if (raw_bytes > most_raw_bytes) return std::nullopt;
    const uint64_t begin = std::exchange(at, at + kBlockHeaderBytes + block->payload_bytes);
    if ((block->flags & BlockHeader::kRollUp) != 0) {
      roll_up = begin;
      roll_up_end = at;
    } else {
      end = at;
    }
  }
}

std::optional<Block> ReadRollUp(ByteSource* source, const FileHeader& header, const ChunkSpan& chunk,
                                ChunkDecoder* decoder) {
  if (chunk.roll_up == 0) return std::nullopt;
  ByteBuffer bytes(chunk.roll_up_end - chunk.roll_up);
  const auto read = source->ReadAt(chunk.roll_up, bytes.data(), bytes.size());
  if (!read || *read < bytes.size()) return std::nullopt;
  const auto block_header = DecodeBlockHeader(bytes, HeaderSeed(header.recording_id));
  if (!block_header || block_header->payload_bytes > bytes.size() - kBlockHeaderBytes) return std::nullopt;
  const Bytes payload = Bytes(bytes).subspan(kBlockHeaderBytes, block_header->payload_bytes);
  Block block;
  block.offset = chunk.roll_up;
  const auto decoded = decoder->Decode(*block_header, payload, &block);
  if (decoded.outcome != ChunkDecoder::Outcome::kDecoded) return std::nullopt;
  for (const Interval& interval : block.intervals) block.samples_left_out += interval.kept;
  return block;
}

}  // namespace heaprec::format
