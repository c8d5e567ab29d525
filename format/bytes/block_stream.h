// Packs and unpacks the blocks of a chunk. Each block is a header and a zstd frame.
//
// Context:  BlockPacker: drain (it allocates).
// Failure:  Pack returns an Error if zstd fails; the chunk is then unusable. Unpack returns why the block cannot be
//           decoded.
// Format:   docs/format/recording.md#blocks
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"

struct ZSTD_CCtx_s;  // of libzstd
struct ZSTD_DCtx_s;

namespace heaprec::format {

struct FreeZstd {
  void operator()(ZSTD_CCtx_s* context) const;
  void operator()(ZSTD_DCtx_s* context) const;
};

class BlockPacker {
 public:
  // `chunk`: its sequence number; `seed`: HeaderSeed of the recording.
  BlockPacker(uint32_t chunk, uint64_t seed);

  struct Span {
    uint64_t begin_ns = 0, end_ns = 0;
    uint32_t flags = 0;  // of BlockHeader, except kFirstOfChunk
  };
  // Appends header and payload to `file`.
  Result<bool> Pack(Bytes raw, const Span& span, ByteBuffer* file);

 private:
  std::unique_ptr<ZSTD_CCtx_s, FreeZstd> context_;
  ByteBuffer payload_;
  uint32_t chunk_;
  uint64_t seed_;
  uint32_t next_block_ = 0;
};

class BlockUnpacker {
 public:
  BlockUnpacker();

  // Returns nullptr if `raw` holds the block's raw bytes and all hashes match; otherwise a phrase that says why not.
  const char* Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw);

 private:
  std::unique_ptr<ZSTD_DCtx_s, FreeZstd> context_;
};

}  // namespace heaprec::format
