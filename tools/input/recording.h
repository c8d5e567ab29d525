// A recording for the commands: the blocks of its file, then the data that only the shared ring has; and Walk, the one
// loop over them.
//
// Units:    as format/model/model.h.
// Threads:  one.
// Failure:  Open fails if the file is missing or is not a recording. skipped() and damaged() report later damage.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/parallel_reader.h"
#include "tools/input/ring_copy.h"
#include "tools/input/salvage.h"
#include "tools/text/messages.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {

class Recording;
using Recordings = std::vector<std::unique_ptr<Recording>>;

class Recording {
 public:
  // `path` "-" is standard input. The ring's path is below `root` ("/proc/PID/root" for a container; OpenBelow). If the
  // file has several recordings, this is the first; others() returns the number of the others.
  static Result<std::unique_ptr<Recording>> Open(const std::string& path, const std::string& root = "");

  // Opens the recording at the beginning of the file, and reads the first `bytes`. Does not search the file for others,
  // because it may belong to another user and be sparse.
  static Result<std::unique_ptr<Recording>> OpenFirst(const std::string& path, const std::string& root,
                                                      uint64_t bytes = UINT64_MAX);

  // Opens all recordings of a file, in order: one, or several that were merged.
  static Result<Recordings> OpenAll(const std::string& path);
  // Opens the recordings of all files.
  static Result<Recordings> OpenAll(const std::vector<std::string>& paths);

  // Opens the same recording again, at its first block.
  Result<std::unique_ptr<Recording>> Again() const;

  const format::FileHeader& header() const { return header_; }
  const FileSource& source() const { return *source_; }
  FileSource& source() { return *source_; }
  // The bytes of this recording only; its file may contain others.
  format::ByteSource& bytes() { return *slice_; }
  // Number of other recordings in the file that were not opened.
  size_t others() const { return others_; }

  // Call before the first block: blocks may then come without samples, and roll-ups instead of whole chunks. Does not
  // apply to the last chunk, after which salvage continues, and after the file was replaced.
  void LeaveOut(format::LeavesOut what);

  // Call before the first block: blocks then come as they were written, without rows of several blocks. Otherwise the
  // blocks of a row interval come as one.
  void TakeAsWritten() { joins_ = false; }

  // Returns the next block; after the file's last one the blocks salvaged from the ring; nullopt at the end.
  std::optional<format::Block> Next();
  // Returns the next block of the file only; nullopt at its current end. Call again while running().
  std::optional<format::Block> NextInFile();

  // Counters of the blocks returned so far; at the end, of everything. Excludes counts from before this file.
  const format::StreamCounters& counters(format::Stream stream = format::Stream::kAllocations) const {
    return counters_[stream];
  }
  // As in the blocks: since the start of the recording.
  const format::PerStream<format::StreamCounters>& counters_since_start() const { return since_start_; }
  // Counters of a census since the start of the recording, up to the last returned block. After the end of a recording
  // that was cut off or is damaged, missing data counts as lost.
  const format::CensusCounters& census_counters() const { return census_; }
  uint64_t events() const { return events_; }
  uint64_t blocks() const { return blocks_; }
  const std::optional<format::EndMarker>& ending() const { return ending_; }
  // Whether every committed sample was read, or dropped by the second stage. False if the recording continues in
  // another file (rotation, dump), or was cut off without a ring.
  bool is_settled() const;
  // Valid after the end: whether this is a copy of a recording that continues in another file. A copy does not grow.
  bool is_dump() const { return ending_ && ending_->reason == format::kEndDump; }
  // Valid after the end: the end marker for a copy of the recording, which is the recording's own. If it has none, the
  // reason is kEndDump if the recording is running, kEndNothingRecovered if nothing could be read, otherwise `reason`.
  // `end_ns`: end of the copy's last block.
  format::EndMarker EndingOfCopy(uint64_t end_ns, const std::string& reason = format::kEndRecovered) const;
  // Valid after the end: whether the recorder has ended it. False if it was cut off, is running, or is a copy of such a
  // recording.
  bool was_ended_by_recorder() const;
  // Valid after the end: whether there was no block in the file and no ring, or this is a copy of such a recording.
  // Nothing is known in that case, not even that nothing was allocated.
  bool has_nothing() const;
  // Whether this is known to be a part: it was trimmed, or other files have its beginning. Valid after the end. If only
  // the beginning was trimmed, that is not known.
  bool is_part() const;
  const SalvageReport& salvage() const { return salvaged_.report; }
  // Valid after the end: how long the file could not be written when the recording ended, if the ring is also lost;
  // otherwise 0. If it is not 0, the last block has the counters of that time, and its samples as
  // LossReason::kWriteFailed. If it is 0, the last block has the counters of the intervals open at the last write
  // (LossReason::kKilled).
  uint64_t unwritten_ns() const { return unwritten_ns_; }
  size_t lane_count() const { return end_.lane_positions.size(); }
  uint64_t bytes_read() const { return reader_->position(); }

  // Whether it has not ended and its process is alive. Checks this at each call.
  bool running() const;
  // Whether nothing will be added to the recording, as far as is visible from here: it has ended (a dump has not), or
  // its ring says that the writer has. Without a visible ring the writer may run in another container or on another
  // machine, so its process id is meaningless. A running recording grows every few seconds, so it is over once the file
  // has not grown for `quiet`.
  bool is_over(std::chrono::seconds quiet) const;

  const std::vector<format::SkippedRange>& skipped() const { return reader_->skipped(); }
  // Whether bytes were skipped or repaired, except for an unfinished block at the end of a recording that was cut off.
  bool damaged() const;
  // Whether data is missing because bytes were skipped, and their number, including those of the original of a copy. A
  // copy's counters include the losses of its original.
  bool misses_bytes() const { return misses_own_bytes() || skipped_in_original_ > 0; }
  bool misses_own_bytes() const;
  uint64_t skipped_bytes() const;
  // The number to store in a copy, from which its readers learn that data is missing: if that was cut out of the file,
  // no bytes were skipped, and the number is 1.
  uint64_t skipped_bytes_for_copy() const { return std::max<uint64_t>(skipped_bytes(), misses_bytes() ? 1 : 0); }
  // Whether data is missing without skipped bytes: it was cut out of the file, or a part was not given.
  bool misses_part() const { return misses_bytes() && skipped_bytes() <= 1; }
  // Number of repaired bytes.
  uint64_t repaired_bytes() const;
  // Bytes of an unfinished block at the end of a recording that is running or was cut off.
  uint64_t tail_bytes() const;

 private:
  struct Part {
    uint64_t begin = 0, end = 0;  // inside the file
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
  // Switches to the file that has the name now, after the data already read. Returns false if it is the same file.
  bool FollowReplacement();
  // Returns the rings in shared memory and, if an agent has moved one, next to the recording; newest heartbeat first.
  std::vector<OpenedRing> OpenRings() const;
  Result<RingCopy> CopyRing() const;
  // Adds a block with the losses: one row per stream for what was counted but is in neither the file nor a ring.
  void AddUnwrittenLosses();
  void SettleCensus();
  std::optional<format::Block> ProvisionalBlock() const;
  void NoteEnd(const format::Block& block);
  // Updates the state from a block of the file.
  void NoteInFile(const format::Block& block);
  // Takes the blocks of a row interval that is still open in the file as one, with the rows in the ring.
  void TakeOpen(const RingCopy* ring);
  // For an abandoned chunk.
  void FindRows(format::Block* block) const;
  // Whether the drain has written more since the file was read.
  bool IsBehind(const RingCopy& ring) const;
  // Removes the samples that only the ring had from `committed`. Returns their number plus the points in progress.
  uint64_t MoveOpenSamplesToLost(format::Stream stream, format::StreamCounters* since_start) const;
  // Returns true if the drain has written more since the file was read: read the file again, then try again.
  bool SalvageRing();

  std::shared_ptr<FileSource> source_;
  const Part part_;  // part of the file with this recording
  std::unique_ptr<format::ByteSource> slice_;
  std::unique_ptr<ParallelReader> reader_;
  const format::FileHeader header_;
  FileEnd end_;
  uint32_t next_in_chunk_ = 0;  // sequence number of the next block to return of the chunk before end_.next_chunk
  bool joins_ = true, has_begun_ = false;
  std::optional<format::Block> open_;  // to be returned before the salvaged blocks
  // Whether the file was replaced while it was read (maxsize, maxage), so that the rest comes from its replacement.
  bool was_replaced_ = false;
  format::PerStream<format::StreamCounters> counters_, since_start_;
  format::CensusCounters census_;
  uint64_t census_bytes_ = 0;  // sum over all rows
  uint64_t events_ = 0, blocks_ = 0;
  size_t others_ = 0;
  std::optional<format::EndMarker> ending_;
  bool salvage_done_ = false;
  int salvage_attempts_ = 0;
  Salvaged salvaged_;
  size_t next_salvaged_ = 0;
  size_t skipped_before_ = 0;         // number of ranges when the last block was read
  uint64_t skipped_in_original_ = 0;  // bytes; this recording is a copy of it
  uint64_t unwritten_ns_ = 0;
  ParallelReader::Known chunks_;  // of this recording; null: they were not searched
};

// One walk over the blocks of a recording, for everything that reads it to its end, with its progress on a terminal.
//
//   Walk(&recording, [&](const format::Block& block) { totals.Add(block); });

// Calls `visit(block)` for each block, in order. A visitor that returns false ends the walk. Returns whether the end of
// the recording was reached.
template <typename Visit>
bool Walk(Recording* recording, Visit&& visit, Progress::StdoutUse stdout_use = Progress::StdoutUse::kNothing) {
  Progress progress(recording->source().name(), recording->source().size(), stdout_use);
  while (auto block = recording->Next()) {
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, format::Block&>>) {
      visit(*block);
    } else if (!visit(*block)) {
      return false;
    }
    progress.At(recording->bytes_read());
  }
  return true;
}

// The same from the first block on, whatever was read before. Returns the recording at its end.
template <typename Visit>
Result<std::unique_ptr<Recording>> WalkAgain(const Recording& recording, Visit&& visit) {
  auto again = recording.Again();
  if (again.ok()) Walk(again->get(), visit);
  return again;
}

// Opens one file after the other, and calls `visit(recording)`, which returns an exit code, for each recording in it.
// Ends at the first kUnreadable, which a file that cannot be opened is, too: printed on stderr. Returns the last code
// that is not kOk.
template <typename Visit>
ExitCode WalkFiles(const std::vector<std::string>& paths, Visit&& visit) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& path : paths) {
    const auto recordings = Recording::OpenAll(path);
    if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
    for (const auto& recording : *recordings) {
      const ExitCode one = visit(recording.get());
      if (one == ExitCode::kUnreadable) return one;
      if (one != ExitCode::kOk) code = one;
    }
  }
  return code;
}

}  // namespace heaprec::tools
