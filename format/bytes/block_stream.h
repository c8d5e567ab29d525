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

namespace heaprec::format {

class BlockPacker {
 public:
  // `chunk`: its sequence number; `seed`: HeaderSeed of the recording.
  BlockPacker(uint32_t chunk, uint64_t seed);
  ~BlockPacker();
  BlockPacker(const BlockPacker&) = delete;
  BlockPacker& operator=(const BlockPacker&) = delete;

  struct Span {
    uint64_t begin_ns = 0, end_ns = 0;
    uint32_t flags = 0;  // of BlockHeader, except kFirstOfChunk
  };
  // Appends header and payload to `file`.
  Result<bool> Pack(Bytes raw, const Span& span, ByteBuffer* file);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  uint32_t chunk_;
  uint64_t seed_;
  uint32_t next_block_ = 0;
};

class BlockUnpacker {
 public:
  BlockUnpacker();
  ~BlockUnpacker();
  BlockUnpacker(const BlockUnpacker&) = delete;
  BlockUnpacker& operator=(const BlockUnpacker&) = delete;

  // Returns nullptr if `raw` holds the block's raw bytes and all hashes match; otherwise a phrase that says why not.
  const char* Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace heaprec::format
