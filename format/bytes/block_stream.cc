#include "format/bytes/block_stream.h"

#include <zstd.h>

namespace heaprec::format {
namespace {

// 5 % smaller than level 3 for javac's recording; higher levels gain hardly anything.
constexpr int kLevel = 6;
// A chunk is seldom longer than this window. The compressor takes 1.4 MB instead of level 3's 3.7, and the two programs
// of docs/format/recording.md#size take 0.1 % more.
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
  payload.resize(ZSTD_compressBound(raw.size()) + 64);
  ZSTD_inBuffer in{raw.data(), raw.size(), 0};
  ZSTD_outBuffer out{payload.data(), payload.size(), 0};
  for (size_t left = 1; left != 0;) {
    left = ZSTD_compressStream2(stream_->context, &out, &in, ZSTD_e_end);
    if (ZSTD_isError(left)) return Error{std::string("zstd: ") + ZSTD_getErrorName(left)};
    if (out.pos == out.size && left != 0) {
      payload.resize(payload.size() * 2);
      out.dst = payload.data();
      out.size = payload.size();
    }
  }
  BlockHeader header;
  header.payload_bytes = static_cast<uint32_t>(out.pos);
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.flags = (next_block_ == 0 ? BlockHeader::kFirstOfChunk : 0) |
                 (span.last_of_chunk ? BlockHeader::kLastOfChunk : 0) |
                 (span.has_end_marker ? BlockHeader::kHasEndMarker : 0);
  header.chunk = chunk_;
  header.sequence = next_block_++;
  header.begin_ns = span.begin_ns;
  header.end_ns = span.end_ns;
  const Bytes packed = Bytes(payload).first(out.pos);
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

BlockUnpacker::BlockUnpacker() : stream_(std::make_unique<Stream>()) {
  if (stream_->context != nullptr) ZSTD_DCtx_setParameter(stream_->context, ZSTD_d_windowLogMax, kMaxWindowLog);
}

BlockUnpacker::~BlockUnpacker() = default;

const char* BlockUnpacker::Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw) {
  if (stream_->context == nullptr) return "no memory for a decompressor";
  if (Hash(payload) != header.payload_hash) return "block payload hash differs";
  ZSTD_DCtx_reset(stream_->context, ZSTD_reset_session_only);
  raw->resize(header.raw_bytes);
  ZSTD_inBuffer in{payload.data(), payload.size(), 0};
  ZSTD_outBuffer out{raw->data(), raw->size(), 0};
  while (in.pos < in.size) {
    const size_t in_before = in.pos;
    const size_t out_before = out.pos;
    const size_t hint = ZSTD_decompressStream(stream_->context, &out, &in);
    if (ZSTD_isError(hint)) return "block payload does not decompress";
    if (in.pos == in_before && out.pos == out_before) return "block payload holds more than its header says";
  }
  if (out.pos != out.size) return "block payload holds less than its header says";
  if (Hash(*raw) != header.raw_hash) return "block raw hash differs";
  return nullptr;
}

}  // namespace heaprec::format
