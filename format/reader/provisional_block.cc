#include "format/reader/provisional_block.h"

#include "format/bytes/layout.h"
#include "format/reader/chunk_decoder.h"

namespace heaprec::format {

std::optional<Block> ReadProvisionalBlock(ByteSource* source, const FileHeader& header, uint64_t offset) {
  ByteBuffer bytes(kBlockHeaderBytes);
  auto read = source->ReadAt(offset, bytes.data(), bytes.size());
  if (!read) return std::nullopt;
  const auto own = DecodeBlockHeader(Bytes(bytes).first(*read), HeaderSeed(header.recording_id));
  if (!own || (own->flags & BlockHeader::kProvisional) == 0 || own->payload_bytes == 0) return std::nullopt;
  bytes.resize(own->payload_bytes - 1);
  read = source->ReadAt(offset + kBlockHeaderBytes, bytes.data(), bytes.size());
  if (!read || *read != bytes.size()) return std::nullopt;
  ChunkDecoder decoder;
  decoder.StartChunk();
  Block block;
  block.offset = offset;
  if (decoder.Decode(*own, bytes, &block).outcome != ChunkDecoder::Outcome::kDecoded) return std::nullopt;
  block.dictionaries = nullptr;  // they belong to the decoder
  return block;
}

}  // namespace heaprec::format
