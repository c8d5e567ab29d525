#include "format/reader/chunk_span.h"

#include <algorithm>
#include <utility>

#include "format/bytes/layout.h"
#include "format/bytes/parity.h"
#include "format/reader/chunk_decoder.h"

namespace heaprec::format {

void ChunkSpanBuilder::AddChunkHeader(uint64_t at, const ChunkHeader& header) {
  if (is_stopped_) return;
  if (is_open_ && header.sequence <= open_.sequence) return Stop();
  if (is_open_) {
    open_.next = at;
    spans_.push_back(std::move(open_));
  }
  open_ = {.begin = at, .end = at + kChunkHeaderBytes, .sequence = header.sequence};
  is_open_ = true;
}

void ChunkSpanBuilder::AddBlock(uint64_t at, const BlockHeader& header) {
  if (!is_open_) return Stop();
  open_.raw_bytes += header.raw_bytes;
  const uint64_t end = at + kBlockHeaderBytes + header.payload_bytes;
  if ((header.flags & BlockHeader::kRollUp) != 0) {
    open_.roll_up = at;
    open_.roll_up_end = end;
  } else {
    open_.end = end;
  }
}

std::optional<ChunkSpan> FindChunk(ByteSource* source, const FileHeader& header, uint64_t offset,
                                   uint64_t most_raw_bytes) {
  const uint64_t seed = HeaderSeed(header.recording_id);
  ByteBuffer buffer;
  ChunkSpanBuilder builder;
  for (uint64_t at = offset; builder.spans().empty();) {
    const Bytes bytes = source->Peek(at, std::max(kBlockHeaderBytes, kChunkHeaderBytes), &buffer);
    if (const auto chunk = DecodeChunkHeader(bytes.first(std::min(bytes.size(), kChunkHeaderBytes)))) {
      if (chunk->recording != header.recording_id) return std::nullopt;
      builder.AddChunkHeader(at, *chunk);
      at += kChunkHeaderBytes;
    } else if (const auto parity = DecodeParityHead(bytes)) {
      builder.AddParity();
      at += parity->record_bytes();
    } else if (const auto block = DecodeBlockHeader(bytes, seed)) {
      builder.AddBlock(at, *block);
      at += kBlockHeaderBytes + block->payload_bytes;
    } else {
      return std::nullopt;
    }
    if (builder.is_stopped() || builder.raw_bytes() > most_raw_bytes) return std::nullopt;
  }
  return builder.Take().front();
}

std::optional<Block> ReadRollUp(ByteSource* source, const FileHeader& header, const ChunkSpan& chunk,
                                ChunkDecoder* decoder) {
  if (chunk.roll_up == 0) return std::nullopt;
  ByteBuffer buffer;
  const Bytes bytes = source->Peek(chunk.roll_up, chunk.roll_up_end - chunk.roll_up, &buffer);
  if (bytes.size() < chunk.roll_up_end - chunk.roll_up) return std::nullopt;
  const auto block_header = DecodeBlockHeader(bytes, HeaderSeed(header.recording_id));
  if (!block_header || block_header->payload_bytes > bytes.size() - kBlockHeaderBytes) return std::nullopt;
  const Bytes payload = bytes.subspan(kBlockHeaderBytes, block_header->payload_bytes);
  Block block;
  block.offset = chunk.roll_up;
  const auto decoded = decoder->Decode(*block_header, payload, &block);
  if (decoded.outcome != ChunkDecoder::Outcome::kDecoded) return std::nullopt;
  for (const Interval& interval : block.intervals) block.samples_left_out += interval.kept;
  return block;
}

std::optional<Block> ReadProvisionalBlock(ByteSource* source, const FileHeader& header, uint64_t offset) {
  ByteBuffer buffer;
  const auto own = DecodeBlockHeader(source->Peek(offset, kBlockHeaderBytes, &buffer), HeaderSeed(header.recording_id));
  if (!own || (own->flags & BlockHeader::kProvisional) == 0 || own->payload_bytes == 0) return std::nullopt;
  const Bytes payload = source->Peek(offset + kBlockHeaderBytes, own->payload_bytes - 1, &buffer);
  if (payload.size() < own->payload_bytes - 1) return std::nullopt;
  ChunkDecoder decoder;
  decoder.StartChunk();
  Block block;
  block.offset = offset;
  if (decoder.Decode(*own, payload, &block).outcome != ChunkDecoder::Outcome::kDecoded) return std::nullopt;
  block.dictionaries = nullptr;  // they belong to the decoder
  return block;
}

}  // namespace heaprec::format
