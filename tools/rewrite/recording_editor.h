// Writes a recording anew from the blocks of one that is read: what all commands share that write recordings.
//
// What a command wants changed it changes in the block, or in the names as they are written. A chunk ends where one of
// the source does, or at the bound of its size, so memory is bounded by one chunk's dictionaries and two blocks' rows.
//
// Units:    as format/model/model.h.
// Failure:  an Error from the encoder; what was written is then of no use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "format/writer/chunk_writer.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

// Events that the counters include as written but no block has, because the blocks that had them are damaged.
class MissingEvents {
 public:
  explicit MissingEvents(const format::PerStream<format::StreamCounters>& before) : before_(before) {}

  // The next block; `after_damage` false: nothing is missing before it.
  void Note(const format::Block& block, bool after_damage);
  uint64_t events() const;
  // The same counters with what is missing as LossReason::kWriteFailed.
  format::PerStream<format::StreamCounters> Corrected(format::PerStream<format::StreamCounters> counters) const;

 private:
  struct Missing {
    uint64_t events = 0;
    double weight = 0;
  };
  void Note(const format::Block& block, format::Stream stream);

  format::PerStream<format::StreamCounters> before_;  // of the block before; at first, before the file
  format::PerStream<Missing> missing_;
};

class RecordingEditor {
 public:
  // Writes the file's header. All outlive it; `names` may be null.
  RecordingEditor(const format::FileHeader& header, Output* output, NameMapper* names = nullptr);

  // A block that has nothing but windows is not written. Any other is written when the next one comes, or at the end;
  // its dictionaries are needed during the call only. `after_damage`: bytes of its file were skipped before it. Samples
  // that are then missing are lost in the copy's counters, which so agree with its samples.
  Status Add(const format::Block& block, bool after_damage);
  // The next block is of another file: its names and windows are others, whatever its chunk's number.
  void StartFile() { source_chunk_ = UINT32_MAX; }
  // `counters`: at the end. `skipped_bytes`: as Recording::skipped_bytes_for_copy, so that the copy of a damaged
  // recording is no more trustworthy than that. If events are missing, the copy has at least 1.
  Status Finish(const format::PerStream<format::StreamCounters>& counters, const format::EndMarker& ending,
                uint64_t skipped_bytes);

  uint64_t end_ns() const { return end_ns_; }  // of the blocks so far
  uint64_t samples() const { return samples_; }
  uint64_t missing_events() const { return missing_.events(); }

 private:
  Status Write(bool last, const format::EndMarker* ending);
  void StartChunk();
  void AddWindow(uint32_t id);
  format::CensusRow Named(format::CensusRow row);

  const format::FileHeader header_;
  Output& output_;
  MissingEvents missing_;
  CopiedNames<format::ChunkWriter> names_;
  std::unique_ptr<format::ChunkWriter> chunk_;
  uint32_t next_chunk_ = 0;
  uint32_t source_chunk_ = 0;
  struct Pending {
    format::PerStream<format::StreamCounters> counters;
    std::vector<uint64_t> lane_positions;
    uint64_t end_ns = 0;
    uint64_t census_page = 0;
  };
  std::optional<Pending> pending_;
  uint64_t end_ns_ = 0;  // of the blocks so far: what a ring had may be older than the last flush
  struct KnownWindow {
    format::Window window;
    bool written = false;
  };
  std::unordered_map<uint32_t, KnownWindow> windows_;  // of the chunk that is read
  uint64_t samples_ = 0;
  format::CensusCounters census_;  // the last ones
  uint64_t census_bytes_ = 0;      // of all rows
};

struct Rewritten {
  uint64_t events = 0;
  uint64_t missing = 0;  // counted as written, but in no block
};

// Writes all of a recording anew, with what only its ring holds. Events that the counters call written, and that no
// block has because the file is damaged, are counted as LossReason::kWriteFailed, so that the counters of the copy
// agree with its events. `recording` is at its start. The copy keeps its end marker. If it has none, the reason in the
// copy's is kEndDump if the recording is running, kEndNothingRecovered if nothing could be read, else `reason`.
Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output);
// The same with another header and, unless `names` is null, other names.
Result<Rewritten> Rewrite(Recording* recording, format::FileHeader header, NameMapper* names, const std::string& reason,
                          Output* output);

}  // namespace heaprec::tools
