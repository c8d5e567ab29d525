// Decides when a row interval ends, and stores its rows in the ring until then (format/ring/row_pages.h).
//
// Units:    ns since the start of the recording.
// Context:  drain.
// Format:   docs/format/recording.md#row-intervals
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "format/ring/row_pages.h"
#include "format/writer/chunk_writer.h"

namespace heaprec::writer {

class OpenRows {
 public:
  // `pages`: null without a shared ring, so that each block has its rows. `start_epoch_ns`: start of the recording,
  // since 1970.
  OpenRows(format::RingRowPages* pages, uint64_t start_epoch_ns) : pages_(pages), start_epoch_ns_(start_epoch_ns) {}

  // Whether the next block ends the interval: it has lasted long enough for its rows, they no longer fit into the ring,
  // or it would extend beyond a minute of the clock, at which tables are often divided. Call once per block; `samples`:
  // in the block.
  bool AreDue(const format::ChunkWriter& chunk, uint64_t samples, uint64_t now_ns);

  using Page = std::optional<size_t>;
  // Call between encoding and writing a block. Returns nullopt if the block leaves no rows open.
  Page Publish(uint32_t chunk_number, const format::ChunkWriter& chunk);
  // Call when that block is in the file. Otherwise the page of the last written block stays valid.
  void Written(Page page);

 private:
  format::RingRowPages* pages_;
  const uint64_t start_epoch_ns_;
  uint64_t begin_ns_ = 0, last_ns_ = 0;  // of the open interval; of the last block
  uint64_t samples_ = 0;                 // of the open interval
  size_t in_use_ = 0;                    // page that the last block in the file needs
};

}  // namespace heaprec::writer
