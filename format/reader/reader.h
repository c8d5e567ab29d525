// Reads a recording block by block in bounded memory, and survives truncation and damage.
//
// Units:    as model.h.
// Threads:  one.
// Failure:  Open fails only if the file header is unreadable. After later damage skipped() grows, and Next continues
//           at the next complete block or chunk that can be decoded.
// Format:   docs/format/recording.md
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/bytes/bytes.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Where bytes come from. The file of a running recording grows while it is read.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes at `offset`; fewer only at the end. Error: the message does not name the source.
  virtual Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) = 0;
  // Reads them into `*buffer`, which grows if necessary; nothing after an error.
  Bytes Peek(uint64_t offset, size_t size, ByteBuffer* buffer) {
    if (buffer->size() < size) buffer->resize(size);
    const auto read = ReadAt(offset, buffer->data(), size);
    return Bytes(*buffer).first(read ? std::min(*read, size) : 0);
  }
  virtual const std::string& name() const = 0;
};

struct Block {
  uint32_t chunk = 0;                  // sequence number of its chunk
  uint32_t sequence = 0;               // in the chunk
  uint64_t offset = 0;                 // of the block header in the file
  uint64_t end_ns = 0;                 // when it was flushed
  PerStream<StreamCounters> counters;  // cumulative
  std::vector<uint64_t> lane_positions;
  // Data of all streams:
  std::vector<Window> windows;
  std::vector<Interval> intervals;
  std::vector<Sample> samples;  // ascending in time; the weights are final
  std::vector<Row> rows;        // of all points in the intervals of the allocations, by stack and class
  std::vector<Row> outside;     // every object outside of TLABs: class, points and seen
  // Set if rows and outside cover several blocks, or are in a later one. A reader that joins row intervals returns them
  // as one block, and sets this only if their rows are lost. In that case is_last is false if all blocks so far are
  // present, so the ring may have their rows.
  std::optional<RowInterval> row_interval;
  std::vector<ProcessState> states;               // in order of arrival, which is nearly the order of time
  std::vector<LifecycleEvent> lifecycle_events;   // ascending in time
  std::vector<CheckpointSample> live_checkpoint;  // live at the start of the chunk; in its first block only
  // The census: rows by class, rows of all classes together, and cumulative counters.
  std::vector<CensusRow> census, census_totals;
  CensusCounters census_counters;
  uint64_t census_page = 0;  // rows of the ring's census pages up to this number are in the file
  std::optional<EndMarker> ending;
  uint64_t skipped_bytes = 0;                  // damaged bytes skipped when this copy was made; in its last block only
  uint64_t lost_names = 0;                     // number of dictionary entries that were in lost blocks: kLost, or gaps
  bool starts_names = false;                   // the dictionaries are new: a chunk begins, or begins again
  const Dictionaries* dictionaries = nullptr;  // valid until the next call of Next
  uint64_t samples_left_out = 0;               // samples of allocations left out (LeavesOut); in a roll-up all samples
};

// Whether a block may be returned without its samples of allocations, because its caller does not need them. Any thread
// may call it.
using LeavesOut = std::function<bool(const Block&)>;

// Bytes that could not be decoded, or were repaired; empty if data was cut out.
struct SkippedRange {
  uint64_t begin = 0, end = 0;
  std::string why;        // "block payload hash differs", "truncated block", ...
  bool at_end = false;    // nothing decodable follows: the normal end of a killed recording
  bool repaired = false;  // restored from a parity record: nothing is missing
};

class Reader {
 public:
  // `source` must outlive the reader.
  static Result<std::unique_ptr<Reader>> Open(ByteSource* source);
  virtual ~Reader() = default;

  virtual const FileHeader& header() const = 0;

  // Call before the first block: joins the blocks of a row interval into one, with its rows. If one of them is missing,
  // the others are returned without rows.
  virtual void JoinRowIntervals() = 0;

  // Returns the next complete block; nullopt at the current end. Call again later to read what a running recording has
  // appended.
  virtual std::optional<Block> Next() = 0;

  // At the current end, if blocks are joined: returns the joined blocks of a row interval that is still open; its rows
  // are in the ring. Null: none.
  virtual const Block* open() const = 0;
  // Returns open() and removes it. Later blocks of its interval have no rows.
  virtual std::optional<Block> TakeOpen() = 0;

  virtual const std::vector<SkippedRange>& skipped() const = 0;
  // Number of bytes of the file read so far (offset of the next block).
  virtual uint64_t position() const = 0;
};

}  // namespace heaprec::format
