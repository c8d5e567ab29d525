// A recording for the commands: the blocks of its file, then the data that only the shared ring has.
//
// Units:    as format/model/model.h.
// Threads:  one.
// Failure:  Open fails if the file is missing or is not a recording. Later damage is reported by skipped(), damaged().
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/parallel_reader.h"
#include "tools/input/ring_copy.h"
#include "tools/input/salvage.h"

namespace heaprec::tools {

class Recording;
using Recordings = std::vector<std::unique_ptr<Recording>>;

class Recording {
 public:
  // `path` "-" is standard input. The path of its ring is one below `root` ("/proc/PID/root": of a container;
  // OpenBelow). If the file has several recordings, this is the first; others() says so.
  static Result<std::unique_ptr<Recording>> Open(const std::string& path, const std::string& root = "");

  // The recording at the beginning of the file, of which the first `bytes` are read. The file is not searched for
  // others: it may be anyone's, and sparse.
  static Result<std::unique_ptr<Recording>> OpenFirst(const std::string& path, const std::string& root,
                                                      uint64_t bytes = UINT64_MAX);

  // All recordings of a file, in their order: one, or several that were merged.
  static Result<Recordings> OpenAll(const std::string& path);
  // Of all files.
  static Result<Recordings> OpenAll(const std::vector<std::string>& paths);

  // The same recording again, from its first block.
  Result<std::unique_ptr<Recording>> Again() const;

  const format::FileHeader& header() const { return header_; }
  const FileSource& source() const { return *source_; }
  FileSource& source() { return *source_; }
  // Of this recording alone, which its file may hold beside others.
  format::ByteSource& bytes() { return *slice_; }
  // Number of other recordings in the file that were not opened.
  size_t others() const { return others_; }

  // Before the first block: blocks may come without their samples, and roll-ups in place of whole chunks, but for the
  // last chunk, beyond which salvage goes on, and after the file was replaced.
  void LeaveOut(format::LeavesOut what);

  // Before the first block: they come as they were written, at once and without the rows of several blocks. Otherwise
  // the blocks of a row interval come as one.
  void TakeAsWritten() { joins_ = false; }

  // The next block; after the file's last one the blocks salvaged from the ring; nullopt at the end.
  std::optional<format::Block> Next();
  // The next block of the file only; nullopt at its present end. Call again while running().
  std::optional<format::Block> NextInFile();

  // Counters of the blocks returned so far; after the end, of everything. Excludes counts from before this file.
  const format::StreamCounters& counters(format::Stream stream = format::Stream::kAllocations) const {
    return counters_[stream];
  }
  // As in the blocks: since the start of the recording.
  const format::PerStream<format::StreamCounters>& counters_since_start() const { return since_start_; }
  // Counters of a census since the start of the recording, up to the last returned block. After the end of a recording
  // that was cut off or is damaged, what is missing is counted as lost.
  const format::CensusCounters& census_counters() const { return census_; }
  uint64_t events() const { return events_; }
  uint64_t blocks() const { return blocks_; }
  const std::optional<format::EndMarker>& ending() const { return ending_; }
  // Whether every committed sample was read, or dropped by the second stage. False if the recording continues in the
  // next file, or in its own (dump), or was cut off without a ring.
  bool is_settled() const;
  // Valid after the end: whether this is a copy of a recording that continues in another file. A copy does not grow.
  bool is_dump() const { return ending_ && ending_->reason == format::kEndDump; }
  // Valid after the end: the end marker for a copy, which is the recording's own. If it has none, the marker says
  // kEndDump if the recording is running, kEndNothingRecovered if nothing could be read, else `reason`. `end_ns`: of
  // the copy's last block.
  format::EndMarker EndingOfCopy(uint64_t end_ns, const std::string& reason = format::kEndRecovered) const;
  // Valid after the end: whether the recorder has ended it. False: it was cut off, is running, or is a copy of such a
  // recording.
  bool was_ended_by_recorder() const;
  // Valid after the end: whether no block was in the file and no ring was found, or this is a copy of such a recording.
  // Nothing is known then, not even that nothing was allocated.
  bool has_nothing() const;
  // Whether this is known to be a part: it was trimmed, or other files have its beginning. Valid after the end. A part
  // that was trimmed only at its beginning does not say so.
  bool is_part() const;
  const SalvageReport& salvage() const { return salvaged_.report; }
  // Valid after the end: how long the file could not be written when the recording ended, if the ring is gone too;
  // else 0. If it is not 0, the last block has the counts of that time, and its samples as LossReason::kWriteFailed. If
  // it is 0, the last block has those of the intervals open at the last write (LossReason::kKilled).
  uint64_t unwritten_ns() const { return unwritten_ns_; }
  size_t lane_count() const { return end_.lane_positions.size(); }
  uint64_t bytes_read() const { return reader_->position(); }

  // Whether it has not ended and its process is alive. Checks at each call.
  bool running() const;
  // As far as can be told from here nothing is added any more: it has ended (a dump has not), or its ring is there and
  // says that the writer has. Where no ring can be seen, the writer may run in another container or on another machine.
  // A process id says nothing then, but a recording grows every few seconds: it is over once the file has not grown for
  // `quiet`.
  bool is_over(std::chrono::seconds quiet) const;

  const std::vector<format::SkippedRange>& skipped() const { return reader_->skipped(); }
  // Whether bytes were skipped or repaired, except for an unfinished block at the end of a recording that was cut off.
  bool damaged() const;
  // Whether data is missing because bytes were skipped, and how many were, including those of the original of a copy.
  // A copy's counters account for what its original had lost.
  bool misses_bytes() const { return misses_own_bytes() || skipped_in_original_ > 0; }
  bool misses_own_bytes() const;
  uint64_t skipped_bytes() const;
  // As a copy of this has it: 1 if data was cut out of the file, and so no bytes were skipped.
  uint64_t skipped_bytes_for_copy() const { return std::max<uint64_t>(skipped_bytes(), misses_bytes() ? 1 : 0); }
  // Whether data is missing that no skipped bytes account for: it was cut out of the file, or a part was not given.
  bool misses_part() const { return misses_bytes() && skipped_bytes() <= 1; }
  // How many were repaired.
  uint64_t repaired_bytes() const;
  // Bytes of an unfinished block at the end of a recording that is running or was cut off.
  uint64_t tail_bytes() const;

 private:
  struct Part {
    uint64_t begin = 0, end = 0;  // of the file
    std::string root;
  };
  Recording(std::shared_ptr<FileSource> source, Part part, std::unique_ptr<format::ByteSource> slice,
            std::unique_ptr<ParallelReader> reader, ParallelReader::Known chunks);
  static Result<std::unique_ptr<Recording>> OpenPart(std::shared_ptr<FileSource> source, Part part,
                                                     ParallelReader::Known chunks);
  void Note(const format::Block& block);
  void NoteIntervals(const format::Block& block, format::Stream stream);
  void NoteCounted(const format::Block& block);
  void NoteCounters(const format::PerStream<format::StreamCounters>& since_start);
  // Switches to the file that has the name now, after the data already read; false: it is the same file.
  bool FollowReplacement();
  // The rings in shared memory and, once the next agent has moved one, beside the recording; newest heartbeat first.
  std::vector<OpenedRing> OpenRings() const;
  Result<RingCopy> CopyRing() const;
  // Adds a block with the losses: one row per stream for what was counted but is in neither the file nor a ring.
  void AddUnwrittenLosses();
  void SettleCensus();
  std::optional<format::Block> ProvisionalBlock() const;
  void NoteEnd(const format::Block& block);
  // All that must be known of a block of the file.
  void NoteInFile(const format::Block& block);
  // Of a row interval that is still open in the file: its blocks as one, with the rows that the ring has.
  void TakeOpen(const RingCopy* ring);
  // Of a chunk that was given up.
  void FindRows(format::Block* block) const;
  // Whether the drain has written more since the file was read.
  bool IsBehind(const RingCopy& ring) const;
  // Removes from `committed` the samples that only the ring had. Returns their number plus the points under way.
  uint64_t MoveOpenSamplesToLost(format::Stream stream, format::StreamCounters* since_start) const;
  // True if the drain has written more since the file was read: read the file again, then try again.
  bool SalvageRing();

  std::shared_ptr<FileSource> source_;
  const Part part_;  // of it, this recording
  std::unique_ptr<format::ByteSource> slice_;
  std::unique_ptr<ParallelReader> reader_;
  const format::FileHeader header_;
  FileEnd end_;
  uint32_t next_in_chunk_ = 0;  // sequence number of the next block to be given out of the chunk before end_.next_chunk
  bool joins_ = true, has_begun_ = false;
  std::optional<format::Block> open_;  // to be given out before what was salvaged
  // Whether the file was replaced while it was read (maxsize, maxage), and the rest is read from its replacement.
  bool was_replaced_ = false;
  format::PerStream<format::StreamCounters> counters_, since_start_;
  format::CensusCounters census_;
  uint64_t census_bytes_ = 0;  // of all rows
  uint64_t events_ = 0, blocks_ = 0;
  size_t others_ = 0;
  std::optional<format::EndMarker> ending_;
  bool salvage_done_ = false;
  int salvage_attempts_ = 0;
  Salvaged salvaged_;
  size_t next_salvaged_ = 0;
  size_t skipped_before_ = 0;         // ranges, when the last block came
  uint64_t skipped_in_original_ = 0;  // bytes; this is a copy of it
  uint64_t unwritten_ns_ = 0;
  ParallelReader::Known chunks_;  // of this recording; null: they were not looked for
};

}  // namespace heaprec::tools
