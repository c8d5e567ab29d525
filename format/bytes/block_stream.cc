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

struct BlockPacker::Stream {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ByteBuffer payload;
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ZSTD_freeCCtx(context); }
};

BlockPacker::BlockPacker(uint32_t chunk, uint64_t seed)
    : stream_(std::make_unique<Stream>()), chunk_(chunk), seed_(seed) {
  if (stream_->context == nullptr) return;
  ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_windowLog, kWindowLog);
  ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_hashLog, kHashLog);
  ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_chainLog, kChainLog);
}

BlockPacker::~BlockPacker() = default;

Result<bool> BlockPacker::Pack(Bytes raw, const Span& span, ByteBuffer* file) {
  if (stream_->context == nullptr) return Error{"zstd has no memory for a compressor"};
  if (raw.size() > kMaxBlockRawBytes) return Error{"a block of more than 64 MiB"};
  ByteBuffer& payload = stream_->payload;
  payload.resize(ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compress2(stream_->context, payload.data(), payload.size(), raw.data(), raw.size());
  if (ZSTD_isError(size)) return Error{std::string("zstd: ") + ZSTD_getErrorName(size)};
  BlockHeader header;
  header.payload_bytes = static_cast<uint32_t>(size);
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.flags = (next_block_ == 0 ? BlockHeader::kFirstOfChunk : 0) | span.flags;
  header.chunk = chunk_;
  header.sequence = next_block_++;
  header.begin_ns = span.begin_ns;
  header.end_ns = span.end_ns;
  const Bytes packed = Bytes(payload).first(size);
  header.payload_hash = Hash(packed);
  header.raw_hash = Hash(raw);
  AppendTo(file, header, seed_);
  ByteSink(file).Append(packed);
  return true;
}

struct BlockUnpacker::Stream {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ZSTD_freeDCtx(context); }
};

BlockUnpacker::BlockUnpacker() : stream_(std::make_unique<Stream>()) {}
BlockUnpacker::~BlockUnpacker() = default;

const char* BlockUnpacker::Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw) {
  if (stream_->context == nullptr) return "no memory for a decompressor";
  if (Hash(payload) != header.payload_hash) return "block payload hash differs";
  raw->resize(header.raw_bytes);
  const size_t size = ZSTD_decompressDCtx(stream_->context, raw->data(), raw->size(), payload.data(), payload.size());
  if (ZSTD_isError(size)) return "block payload does not decompress, or holds more than its header says";
  if (size != raw->size()) return "block payload holds less than its header says";
  if (Hash(*raw) != header.raw_hash) return "block raw hash differs";
  return nullptr;
}

}  // namespace heaprec::format
