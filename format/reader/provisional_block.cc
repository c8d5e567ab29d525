#include "format/reader/provisional_block.h"

#include "format/bytes/layout.h"
#include "format/reader/chunk_decoder.h"

namespace heaprec::format {

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
