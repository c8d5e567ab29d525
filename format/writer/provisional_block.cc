#include "format/writer/provisional_block.h"

#include <algorithm>

#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

constexpr uint32_t kSkippableFrame = 0x184D2A50;  // zstd skips such a frame: this magic number, a u32 n, and n bytes
constexpr uint64_t kFrameHeaderBytes = 8;

}  // namespace

ByteBuffer ProvisionalBlock(Bytes chunk, const RecordingId& recording, uint64_t at_least) {
  if (chunk.size() < kChunkHeaderBytes) return {};
  const Bytes block = chunk.subspan(kChunkHeaderBytes);
  const uint64_t seed = HeaderSeed(recording);
  auto header = DecodeBlockHeader(block, seed);
  if (!header || block.size() < kBlockHeaderBytes + header->payload_bytes) return {};
  ByteBuffer payload;
  ByteSink sink(&payload);
  sink.Append(block.subspan(kBlockHeaderBytes, header->payload_bytes));
  if (const uint64_t have = kBlockHeaderBytes + payload.size(); have < at_least) {
    const uint64_t skipped = std::max(at_least - have, kFrameHeaderBytes) - kFrameHeaderBytes;
    sink.U32(kSkippableFrame);
    sink.U32(static_cast<uint32_t>(skipped));
    payload.resize(payload.size() + skipped);
  }
  header->flags |= BlockHeader::kProvisional;
  header->payload_bytes = static_cast<uint32_t>(payload.size() + 1);
  header->payload_hash = Hash(payload);
  ByteBuffer bytes;
  AppendTo(&bytes, *header, seed);
  ByteSink(&bytes).Append(payload);
  return bytes;
}

}  // namespace heaprec::format
