// Packs and unpacks the blocks of a chunk: a zstd frame each, and the block's header.
//
// Context:  BlockPacker: drain (it allocates).
// Failure:  Pack: an Error when zstd refuses; the chunk is then unusable. Unpack: why the block cannot be decoded;
//           in version 1, whose chunks are one frame, the rest of the chunk is then lost.
// Format:   docs/format/recording.md#blocks
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/bytes/result.h"

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
    bool last_of_chunk = false, has_end_marker = false;
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

  // A frame begins: with each chunk (version 1), with each block.
  void StartFrame();
  // nullptr: `raw` holds the block's raw bytes, all hashes are right. Otherwise why not, as a phrase.
  const char* Unpack(const BlockHeader& header, Bytes payload, ByteBuffer* raw);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace heaprec::format
