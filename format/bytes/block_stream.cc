#include "format/bytes/block_stream.h"

#include <zstd.h>

namespace heaprec::format {
namespace {

// Files of javac are 5 % smaller than with level 3; higher levels gain hardly anything.
constexpr int kLevel = 6;
// A block is seldom longer than this window, which bounds the compressor's memory to 0.9 MB. The two programs of
// tests/format/programs.h take 0.1 % more.
constexpr int kWindowLog = 18, kHashLog = 16, kChainLog = 15;

}  // namespace

void FreeZstd::operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
void FreeZstd::operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }

BlockPacker::BlockPacker(uint32_t chunk, uint64_t seed) : context_(ZSTD_createCCtx()), chunk_(chunk), seed_(seed) {
  if (context_ == nullptr) return;
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kWindowLog);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_hashLog, kHashLog);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_chainLog, kChainLog);
}

Result<bool> BlockPacker::Pack(Bytes raw, const Span& span, ByteBuffer* file) {
  if (context_ == nullptr) return Error{"zstd has no memory for a compressor"};
  if (raw.size() > kMaxBlockRawBytes) return Error{"a block of more than 64 MiB"};
  payload_.resize(ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compress2(context_.get(), payload_.data(), payload_.size(), raw.data(), raw.size());
  if (ZSTD_isError(size)) return Error{std::string("zstd: ") + ZSTD_getErrorName(size)};
  BlockHeader header;
  header.payload_bytes = static_cast<uint32_t>(size);
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.flags = (next_block_ == 0 ? BlockHeader::kFirstOfChunk : 0) | span.flags;
  header.chunk = chunk_;
  header.sequence = next_block_++;
  header.begin_ns = span.begin_ns;
  header.end_ns = span.end_ns;
  const Bytes packed = Bytes(payload_).first(size);
  header.payload_hash = Hash(packed);
  header.raw_hash = Hash(raw);
  AppendTo(file, header, seed_);
  ByteSink(file).Append(packed);
  return true;
}

BlockUnpacker::BlockUnpacker() : context_(ZSTD_createDCtx()) {}

const char* BlockUnpacker::Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw) {
  if (context_ == nullptr) return "no memory for a decompressor";
  if (Hash(payload) != header.payload_hash) return "block payload hash differs";
  raw->resize(header.raw_bytes);
  const size_t size = ZSTD_decompressDCtx(context_.get(), raw->data(), raw->size(), payload.data(), payload.size());
  if (ZSTD_isError(size)) return "block payload does not decompress, or holds more than its header says";
  if (size != raw->size()) return "block payload holds less than its header says";
  if (Hash(*raw) != header.raw_hash) return "block raw hash differs";
  return nullptr;
}

}  // namespace heaprec::format
