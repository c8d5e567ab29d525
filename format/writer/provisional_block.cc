#include "format/writer/provisional_block.h"

#include "format/bytes/layout.h"

namespace heaprec::format {

ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording) {
  if (chunk.size() < kChunkHeaderBytes) return {};
  const Bytes block = chunk.subspan(kChunkHeaderBytes);
  const uint64_t seed = HeaderSeed(kFileVersion, recording);
  auto header = DecodeBlockHeader(block, seed);
  if (!header || block.size() < kBlockHeaderBytes + header->payload_bytes) return {};
  const Bytes payload = block.subspan(kBlockHeaderBytes, header->payload_bytes);
  header->flags |= BlockHeader::kProvisional;
  ++header->payload_bytes;
  ByteBuffer bytes;
  AppendTo(&bytes, *header, seed);
  ByteSink(&bytes).Append(payload);
  return bytes;
}

}  // namespace heaprec::format
