// The agent's own thread: ticks, closes intervals, writes blocks, ends the recording. It calls the JVM only through
// the callbacks.
//
// Units:    ns of CLOCK_MONOTONIC.
// Context:  Start: setup. RequestStop, Wait: any thread. The callbacks run on the drain.
// Failure:  a block that cannot be written waits, and the ring keeps its samples, so that a kill loses nothing. The
//           drain tries again every second. When the ring needs the room, or a megabyte or 1,024 intervals wait, it
//           drops and counts the samples (LossReason::kWriteFailed), and begins a new chunk. The next block that is
//           written has the counts of the lost intervals; at the end there is reserved room for them. Until then the
//           room has a provisional block, for a kill that takes the ring.
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
  format::FileHeader header;  // of the recording
  uint64_t max_samples = 0;   // of the allocations of the whole recording; 0: no limit
  uint64_t duration_ns = 0;   // 0: until it is stopped
  // How long samples may wait for others in order to share a block, while the ring has them (docs/decisions/0013). 0:
  // each interval gets a block.
  uint64_t block_ns = 0;
  format::PerStream<uint32_t> buffered_per_interval;  // approximate; for TrackedSet
};

// What could not be written so far.
struct Unwritten {
  std::string error;          // why writing fails now; empty: it does not
  uint64_t lost_samples = 0;  // of all streams
  bool any() const { return !error.empty() || lost_samples > 0; }
};

struct DrainCallbacks {
  std::function<uint64_t()> now;                          // CLOCK_MONOTONIC
  std::function<void()> on_start;                         // once, on the drain's thread; may be empty
  std::function<void(uint64_t now_ns)> on_tick;           // counts the population, updates the window
  LaneConsumer::NativePointTaker on_native_point;         // commits its sample; may be empty
  ChunkInterner::NativeNamer name_of;                     // names addresses of stacks; may be empty
  std::function<void()> on_new_chunk;                     // definitions must be emitted again
  std::function<void(const format::StackKey&)> on_stack;  // the chunk has it: samples need not bring it; may be empty
  std::function<void()> on_stop;                          // stops sampling; called before the last scan
  // Writing failed more than once in a row, or samples were lost; later, writing succeeded again. Both may be empty.
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

  // Error: the thread could not be created.
  Status Start();
  // Instead of Start: runs on the caller's thread until the recording has ended. Throws nothing.
  void Run();
  void RequestStop(const std::string& reason);
  // True once the recording is complete in the file; false after `timeout_ns`.
  bool Wait(uint64_t timeout_ns);
  // The name of the current file; any thread.
  std::string path();
  // Any thread.
  Unwritten unwritten();
  // Everything committed before the call, once the open intervals have closed: within little more than a second
  // (open intervals that are longer are left out). Any thread. An Error: the recording ends first, or its file
  // cannot be written.
  std::future<Result<Snapshot>> RequestSnapshot();
  // Whether the thread has ended, or was never started. It ends later than the file by the time that the disk takes
  // to sync.
  bool TryJoin();

  // One iteration of the loop and the end, for tests that use their own thread.
  void Tick();
  void End();

 private:
  struct Pending {
    uint64_t written = 0, second_stage = 0, untracked = 0;
    double weight = 0;
    std::vector<format::Interval> intervals;
    Pending& operator+=(const Pending& other);
  };
  // A block that could not be written. Later data is not encoded yet.
  struct Waiting {
    format::ByteBuffer block;
    format::PerStream<Pending> counted;
    std::vector<uint64_t> positions;
    uint64_t census_page = 0;  // up to which the block has the census
    OpenRows::Page rows;
    format::FileStart behind;  // of a file that begins after the block
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
  // Returns the number of the last page that is then in the chunk.
  uint64_t AddCensus(bool is_last);
  void LoseCensus();
  void AddCheckpoint();
  uint64_t name_bytes() const { return consumer_.definition_bytes() + chunk_->name_bytes(); }
  uint64_t PendingSamples() const;  // of the next block
  // Everything that waits to be written.
  format::PerStream<Pending> AllPending() const;
  // The counters of the blocks in the file plus one more block with all of `counted`.
  format::PerStream<format::StreamCounters> CountersWith(const format::PerStream<Pending>& counted) const;
  format::PerStream<format::StreamCounters> CountersWithPending() const { return CountersWith(AllPending()); }
  void FlushIfDue(uint64_t now_ns);
  using RowsAre = format::ChunkWriter::RowsAre;
  // False: not written. With `ending` nothing is then lost: lanes and shared counters are unchanged. `rows`: kOpen: if
  // their interval may go on.
  bool Flush(uint64_t now_ns, const format::EndMarker* ending, RowsAre rows = RowsAre::kOpen);
  bool ChunkIsFull(uint64_t now_ns) const;
  // True: the next chunk has begun as well.
  bool EndFile(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters,
               const std::vector<uint64_t>& positions);
  bool WriteWaiting();
  bool Append(std::span<const std::byte> block);
  void NoteFailure(const std::string& error);
  void EndOutage();
  void ReportOutage();
  void ReportSyncFailure();
  bool MayBlockGrow(uint64_t since_ns) const;
  // Whether the ring is nearly full, or what waits for the file has reached a limit.
  bool IsBacklogTooLarge() const;
  // Drops what waits, and what came since; its intervals are pending again, as lost ones.
  void LosePending();
  void DropBacklog(uint64_t now_ns);
  void Account(const format::PerStream<Pending>& counted, bool written);
  // Writes the counts of lost intervals, and `ending` if there is one, into the reserved room.
  bool WriteCounts(uint64_t now_ns, const format::EndMarker* ending);
  // During an outage, writes the counts as a provisional block, which the next block overwrites.
  void WriteProvisional(uint64_t now_ns);
  // The tail of each lane: everything before it is in the file, or lost.
  std::vector<uint64_t> Tails() const;
  std::unique_ptr<format::ChunkWriter> CountsChunk(uint32_t number, const std::vector<uint64_t>& positions) const;
  bool WriteNamedCounts(uint32_t number, const std::vector<uint64_t>& positions, uint64_t now_ns);
  bool WriteEnd(uint64_t now_ns, const format::EndMarker& ending);
  // The FileStart of a file that begins after a block with these counters; without lane positions.
  format::FileStart StartBehind(uint64_t now_ns, const format::PerStream<format::StreamCounters>& counters) const;
  bool OpenNext(uint64_t now_ns, format::FileStart start, const std::vector<uint64_t>& positions);
  // `start`: of a file that begins with the chunk.
  void BeginChunk(uint64_t now_ns, const format::FileStart& start);
  void AdoptChunk(const format::FileHeader& header, uint64_t now_ns);
  void StopIfDone(uint64_t now_ns);
  bool IsDue(const SnapshotRequest& request) const;
  void AnswerSnapshots(uint64_t now_ns);
  Result<Snapshot> TakeSnapshot(uint64_t now_ns);
  // Under the mutex.
  void RefuseSnapshots();
  uint64_t SinceStart(uint64_t now_ns) const { return now_ns - ring_.header().start_monotonic_ns; }

  buffer::Ring& ring_;
  format::PerStream<buffer::SharedCounters> shared_counters_of_;
  const std::vector<format::Stream> streams_;  // those that are recorded
  Store store_;
  const DrainConfig config_;
  const DrainCallbacks callbacks_;
  format::PerStream<TrackedSet> live_;
  LaneConsumer consumer_;
  std::unique_ptr<format::ChunkWriter> chunk_;
  uint32_t next_chunk_ = 0;
  uint64_t chunk_start_ns_ = 0, last_flush_ns_ = 0;
  uint64_t survivor_bytes_ = 0;            // of the names with which the chunk began
  format::PerStream<uint64_t> untracked_;  // in the file
  format::PerStream<format::StreamCounters> at_last_close_;
  format::PerStream<uint64_t> closed_intervals_, intervals_with_points_;  // the latter: those of them with points
  format::PerStream<Pending> pending_;                                    // of the next block
  CensusPages census_;
  OpenRows open_rows_;
  std::optional<Waiting> waiting_;
  format::FileStart behind_written_;  // of a file that begins after the last block written
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
