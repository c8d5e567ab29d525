// The agent's own thread: closes intervals, writes blocks, ends the recording. It calls the JVM only through the
// callbacks.
//
// Units:    ns of CLOCK_MONOTONIC.
// Context:  Start: setup. RequestStop, Wait: any thread. The callbacks run on the drain.
// Failure:  a block that cannot be written is retried every second. Until then the ring keeps its samples, so that a
//           kill loses nothing. If the ring needs the space, or a megabyte or 1,024 intervals wait, the drain drops and
//           counts the samples (LossReason::kWriteFailed), and begins a new chunk. The next block has the counters of
//           the lost intervals; space for them is reserved at the end of the file. Until then this space has a
//           provisional block, in case a kill also removes the ring.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "format/writer/chunk_writer.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/writer/census_pages.h"
#include "recorder/writer/lane_consumer.h"
#include "recorder/writer/open_rows.h"
#include "recorder/writer/snapshot.h"
#include "recorder/writer/store.h"
#include "recorder/writer/tracked_set.h"

namespace heaprec::writer {

struct DrainConfig {
  format::FileHeader header;  // header of the recording
  uint64_t max_samples = 0;   // of the allocations of the whole recording; 0: no limit
  uint64_t duration_ns = 0;   // 0: until it is stopped
  // How long samples may wait for others to share a block, while they are in the ring (docs/decisions.md, 13). 0: each
  // interval gets a block.
  uint64_t block_ns = 0;
  format::PerStream<uint32_t> buffered_per_interval;  // approximate; for TrackedSet
};

// Data that could not be written so far.
struct Unwritten {
  std::string error;          // why writing fails now; empty: it succeeds
  uint64_t lost_samples = 0;  // of all streams
  bool any() const { return !error.empty() || lost_samples > 0; }
};

struct DrainCallbacks {
  std::function<uint64_t()> now;                   // CLOCK_MONOTONIC
  std::function<void()> on_start;                  // once, on the drain's thread; may be empty
  std::function<void(uint64_t now_ns)> on_tick;    // counts allocated bytes, updates the window
  LaneConsumer::NativePointTaker on_native_point;  // commits its sample; may be empty
  ChunkInterner::NativeNamer name_of;              // names addresses of stacks; may be empty
  std::function<void()> on_new_chunk;              // definitions must be emitted again
  // the stack is in the chunk: samples need not include it; may be empty
  std::function<void(const format::StackKey&)> on_stack;
  std::function<void()> on_stop;  // stops sampling; called before the last scan
  // Called when writing has failed more than once in a row or samples were lost, and when writing succeeds again. Both
  // may be empty.
  std::function<void(const std::string& error)> on_writing_stopped;
  std::function<void(uint64_t lost_samples, uint64_t outage_ns)> on_writing_resumed;
  // Called once, when fdatasync first fails. May be empty.
  std::function<void(const std::string& error)> on_sync_failed;
  format::PerStream<TrackedSet::Callbacks> tracked;  // of streams that are tracked according to the header
};

class Drain {
 public:
  // `ring` must outlive the drain.
  Drain(buffer::Ring& ring, Store store, const DrainConfig& config, DrainCallbacks callbacks);
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  // Returns an Error if the thread could not be created.
  Status Start();
  // Instead of Start: runs on the caller's thread until the recording has ended. Throws nothing.
  void Run();
  void RequestStop(const std::string& reason);
  // True once the recording is complete in the file; false after `timeout_ns`.
  bool Wait(uint64_t timeout_ns);
  // Name of the current file. Threads: any.
  std::string path();
  // Threads: any.
  Unwritten unwritten();
  // Requests everything committed before the call, once the open intervals have closed: within little more than a
  // second (longer open intervals are left out). Threads: any. Returns an Error if the recording ends first, or its
  // file cannot be written.
  std::future<Result<Snapshot>> RequestSnapshot();
  // Whether the thread has ended, or was never started. It ends after the file is complete, when the disk has synced.
  bool TryJoin();

  // One iteration of the loop, and the end, for tests that use their own thread.
  void Tick();
  void End();

 private:
  struct Pending {
    uint64_t written = 0, second_stage = 0, untracked = 0;
    double weight = 0;
    std::vector<format::Interval> intervals;
    Pending& operator+=(const Pending& other);
  };
  // A block that could not be written. Later data has not been encoded yet.
  struct Waiting {
    format::ByteBuffer block;
    format::PerStream<Pending> counted;
    std::vector<uint64_t> positions;
    uint64_t census_page = 0;  // number of the last census page in the block
    OpenRows::Page rows;
    format::FileStart behind;  // start of a file that begins after the block
    bool ends_chunk = false;
  };

  struct SnapshotRequest {
    uint64_t asked_ns;
    std::promise<Result<Snapshot>> answer;
  };

  void GiveUp();
  bool SleepOneTick();
  void CloseDueIntervals(uint64_t now_ns);
  void AwaitWriters();
  void AwaitSettled();
  enum class Closing : uint8_t { kOnTime, kCutShort };
  void AddInterval(format::Stream stream, Closing closing = Closing::kOnTime);
  void CountBytes(format::Stream stream, double share, ClosedInterval* closed);
  void Scan();
  TrackedSet LiveSetOf(format::Stream stream) const;
  void AddLifecycleEvents();
  // Returns the number of the last census page in the chunk.
  uint64_t AddCensus(bool is_last);
  void LoseCensus();
  void AddCheckpoint();
  uint64_t name_bytes() const { return consumer_.definition_bytes() + chunk_->name_bytes(); }
  uint64_t PendingSamples() const;  // for the next block
  // Everything that waits to be written.
  format::PerStream<Pending> AllPending() const;
  // Returns the counters of the blocks in the file plus one more block with all of `counted`.
  format::PerStream<format::StreamCounters> CountersWith(const format::PerStream<Pending>& counted) const;
  format::PerStream<format::StreamCounters> CountersWithPending() const { return CountersWith(AllPending()); }
  void FlushIfDue(uint64_t now_ns);
  using RowsAre = format::ChunkWriter::RowsAre;
  // Returns false if the block was not written. With `ending`, nothing is lost in that case: lanes and shared counters
  // are unchanged. `rows`: kOpen if their interval may continue.
  bool Flush(uint64_t now_ns, const format::EndMarker* ending, RowsAre rows = RowsAre::kOpen);
  bool ChunkIsFull(uint64_t now_ns) const;
  // If this returns true, the next chunk has also begun.
  bool EndFile(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters,
               const std::vector<uint64_t>& positions);
  bool WriteWaiting();
  bool Append(std::span<const std::byte> block);
  void NoteFailure(const std::string& error);
  void EndOutage();
  void ReportOutage();
  void ReportSyncFailure();
  bool MayBlockGrow(uint64_t since_ns) const;
  // Whether the ring is nearly full, or the data waiting for the file has reached a limit.
  bool IsBacklogTooLarge() const;
  // Drops the waiting data and all newer data; its intervals are pending again, as lost ones.
  void LosePending();
  void DropBacklog(uint64_t now_ns);
  void Account(const format::PerStream<Pending>& counted, bool written);
  // Writes the counters of lost intervals, and `ending` if there is one, into the reserved space.
  bool WriteCounts(uint64_t now_ns, const format::EndMarker* ending);
  // During an outage, writes the counters as a provisional block, which the next block overwrites.
  void WriteProvisional(uint64_t now_ns);
  // The tail of each lane: everything before it is in the file, or lost.
  std::vector<uint64_t> Tails() const;
  std::unique_ptr<format::ChunkWriter> CountsChunk(uint32_t number, const std::vector<uint64_t>& positions) const;
  bool WriteNamedCounts(uint32_t number, const std::vector<uint64_t>& positions, uint64_t now_ns);
  bool WriteEnd(uint64_t now_ns, const format::EndMarker& ending);
  // Returns the FileStart of a file that begins after a block with these counters, without lane positions.
  format::FileStart StartBehind(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters) const;
  bool OpenNext(uint64_t now_ns, format::FileStart start, const std::vector<uint64_t>& positions);
  // `start`: FileStart of a file that begins with the chunk.
  void BeginChunk(uint64_t now_ns, const format::FileStart& start);
  void AdoptChunk(const format::FileHeader& header, uint64_t now_ns);
  void StopIfDone(uint64_t now_ns);
  bool IsDue(const SnapshotRequest& request) const;
  void AnswerSnapshots(uint64_t now_ns);
  Result<Snapshot> TakeSnapshot(uint64_t now_ns);
  // Call under the mutex.
  void RefuseSnapshots();
  uint64_t SinceStart(uint64_t now_ns) const { return now_ns - ring_.header().start_monotonic_ns; }

  buffer::Ring& ring_;
  format::PerStream<buffer::SharedCounters> shared_counters_of_;
  const std::vector<format::Stream> streams_;  // the recorded streams
  Store store_;
  const DrainConfig config_;
  const DrainCallbacks callbacks_;
  format::PerStream<TrackedSet> live_;
  LaneConsumer consumer_;
  std::unique_ptr<format::ChunkWriter> chunk_;
  uint32_t next_chunk_ = 0;
  uint64_t chunk_start_ns_ = 0, last_flush_ns_ = 0;
  uint64_t survivor_bytes_ = 0;            // bytes of the names with which the chunk began
  format::PerStream<uint64_t> untracked_;  // numbers in the file
  format::PerStream<format::StreamCounters> at_last_close_;
  format::PerStream<uint64_t> closed_intervals_, intervals_with_points_;  // the latter: how many of these have points
  format::PerStream<Pending> pending_;                                    // data for the next block
  CensusPages census_;
  OpenRows open_rows_;
  std::optional<Waiting> waiting_;
  format::FileStart behind_written_;  // FileStart of a file that begins after the last written block
  // Consecutive failures to write.
  struct Outage {
    uint64_t since_ns = 0, failures = 0, lost_before = 0;
    std::string error;
    bool is_reported = false;
  };
  std::optional<Outage> outage_;
  bool is_sync_failure_reported_ = false;
  uint64_t quiet_ticks_ = 0, last_candidates_ = 0;

  pthread_t thread_{};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_requested_ = false, finished_ = false;
  std::string stop_reason_, path_, write_error_;
  std::vector<SnapshotRequest> snapshot_requests_;
};

}  // namespace heaprec::writer
