// Writes a recording from the blocks of one that is read, for all commands that write recordings.
//
// A command applies its changes to the blocks, or to the names while they are written. A chunk ends with a chunk of the
// source, or at the size limit, so memory is bounded by one chunk's dictionaries and two blocks' rows.
//
// Units:    as format/model/model.h.
// Failure:  an Error from the encoder; the output is then unusable.
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

// Events that the counters include as written but that are in no block, because their blocks are damaged.
class MissingEvents {
 public:
  explicit MissingEvents(const format::PerStream<format::StreamCounters>& before) : before_(before) {}

  // Adds the next block; `after_damage` false: nothing is missing before it.
  void Note(const format::Block& block, bool after_damage);
  uint64_t events() const;
  // Returns the same counters with missing events as LossReason::kWriteFailed.
  format::PerStream<format::StreamCounters> Corrected(format::PerStream<format::StreamCounters> counters) const;

 private:
  struct Missing {
    uint64_t events = 0;
    double weight = 0;
  };
  void Note(const format::Block& block, format::Stream stream);

  format::PerStream<format::StreamCounters> before_;  // of the previous block; at first, from before the file
  format::PerStream<Missing> missing_;
};

// Whether the block has anything except windows. Without that it gets no block in a copy: its windows are written with
// the first block that needs them.
bool HasRows(const format::Block& block);

class RecordingEditor {
 public:
  // Writes the file's header. All arguments must outlive this; `names` may be null.
  RecordingEditor(const format::FileHeader& header, Output* output, NameMapper* names = nullptr);

  // A block with only windows is not written. Any other block is written when the next one comes, or at the end; its
  // dictionaries are needed only during the call. `after_damage`: bytes of its file were skipped before it. Samples
  // that are missing because of that count as lost, so that the copy's counters agree with its samples.
  Status Add(const format::Block& block, bool after_damage);
  // The next block is from another file: it has other names and windows, even if its chunk has the same number.
  void StartFile() { source_chunk_ = UINT32_MAX; }
  // `counters`: at the end. `skipped_bytes`: as Recording::skipped_bytes_for_copy, so that the copy of a damaged
  // recording is not more trustworthy. If events are missing, the copy has at least 1.
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
  uint64_t end_ns_ = 0;  // of the blocks so far: those from a ring may be older than the last flush
  struct KnownWindow {
    format::Window window;
    bool written = false;
  };
  std::unordered_map<uint32_t, KnownWindow> windows_;  // of the chunk being read
  uint64_t samples_ = 0;
  format::CensusCounters census_;  // the latest
  uint64_t census_bytes_ = 0;      // sum over all rows
};

struct Rewritten {
  uint64_t events = 0;
  uint64_t missing = 0;  // counted as written, but in no block
};

// Writes a copy of a recording, including data that only its ring has. Events that are counted as written and are in no
// block, because the file is damaged, become LossReason::kWriteFailed, so that the copy's counters agree with its
// events. `recording` must be at its start. The copy keeps the end marker. If there is none, the reason is kEndDump if
// the recording is running, kEndNothingRecovered if nothing could be read, otherwise `reason`.
Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output);
// The same with another header and, unless `names` is null, changed names.
Result<Rewritten> Rewrite(Recording* recording, format::FileHeader header, NameMapper* names, const std::string& reason,
                          Output* output);

// Merges parts of one recording: several files due to maxsize or maxage, and copies made by dump.
//
// Failure:  an Error for a part that cannot be read, or from the encoder; the output is then unusable.

// Writes everything in the parts, each event once. Returns the number of samples.
Result<uint64_t> MergeParts(const std::vector<Recording*>& of_one, Output* output);

// Joins the parts of a rotation that are given to one command, so that objects are not counted once per part.
// Consecutive parts of a recording are replaced by one temporary file (tools/input/file_source.h). Files that cannot be
// read or joined stay unchanged, and the command reports the error. Reads the header of each file if there are several.
std::vector<std::string> JoinParts(const std::vector<std::string>& paths);

}  // namespace heaprec::tools
