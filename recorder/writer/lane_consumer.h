// Reads the lanes, buffers the samples of open intervals, and reduces each interval when it closes. Each stream has its
// own intervals.
//
// A stack goes into the chunk once a kept sample, or a second buffered one, needs it. Until then it stays in the lane:
// if a program's stacks are always new, most of them are never needed (docs/decisions.md, 11). Its path (format::Path)
// is added when its interval closes, because all points of allocations are added to the chunk's rows.
//
// Units:    ns of CLOCK_MONOTONIC on the ring's side, ns since the start on the recording's side.
// Context:  drain (it allocates). `now` is passed in.
// Failure:  a lane with an invalid record is no longer read; its samples are missing in the counter `written`.
// Maths:    docs/sampler.md#second-stage; docs/format/ring.md describes how a reader repeats it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/ring/census_pages.h"
#include "format/ring/ring_reader.h"
#include "format/writer/chunk_writer.h"
#include "recorder/buffer/ring.h"
#include "recorder/writer/chunk_interner.h"
#include "recorder/writer/tracked_set.h"
#include "throttle/interval_reducer.h"

namespace heaprec::writer {

// The rows of one closed interval, ready for a chunk.
struct ClosedInterval {
  format::Interval totals;              // the caller sets candidates and bytes
  std::vector<format::Sample> samples;  // ascending in time
  std::vector<ClosedSample> births;     // all buffered points, if samples of the stream are tracked
  double buffered_weight = 0;           // sum over all buffered points
};

class LaneConsumer final : private format::RecordVisitor {
 public:
  using OnStackKnown = std::function<void(const format::StackKey&)>;
  using NativePointTaker = std::function<void(const format::NativePointRecord&, std::span<const uint64_t> pcs,
                                              std::span<const format::RingFrame> java)>;

  // `max_samples` (of allocations), `duration_ns`: as in FileHeader. on_stack: called when a stack is in the chunk, so
  // that samples need not include it; may be empty. tracks: the streams whose samples are tracked. on_native_point:
  // commits the point's sample to a lane, or counts its loss; may be empty. name_of: as for ChunkInterner.
  LaneConsumer(buffer::Ring& ring, const format::RecordingId& id, uint64_t max_samples, uint64_t duration_ns,
               OnStackKnown on_stack, const format::PerStream<bool>& tracks, NativePointTaker on_native_point = {},
               ChunkInterner::NativeNamer name_of = {});

  // Call before the chunk is freed: copies what is still needed.
  void EndChunk() { definitions_.EndChunk(); }
  // Sets the chunk for definitions and windows (not owned); `sequence` is the chunk's.
  void NewChunk(format::ChunkWriter* chunk, uint32_t sequence);

  // Adds to the chunk all names to which samples in the lanes, or samples being written, may refer.
  void CarryDefinitionsOver() { definitions_.CarryOver(); }
  // Removes definitions emitted before the chunk that no buffered sample uses.
  void ForgetPrevious() { definitions_.ForgetPrevious(); }
  // Approximate heap bytes of the chunk's definitions, without the chunk's names.
  uint64_t definition_bytes() const { return definitions_.bytes(); }

  // Reads the published records of all lanes.
  void Scan();
  // A death of a tracked object. Returned by TakeDeaths once.
  struct Death {
    format::DeathRecord record;
    uint32_t lane;
    uint64_t begin;  // position in the lane
  };
  std::vector<Death> TakeDeaths() { return std::exchange(deaths_, {}); }
  // Sets the names of a sample of an earlier chunk in this one.
  void Name(const NameKeys& keys, format::Sample* sample);

  // Adds the rows of a census page to the chunk.
  void AddCensus(const format::RingCensusPage& page);

  // End of the interval of a stream that closes next.
  uint64_t next_close_ns(format::Stream stream) const;
  // The weight of the samples that wait for their interval to close.
  double BufferedWeight(format::Stream stream) const;

  // A thread that holds a lane, and may be about to publish a sample with an earlier time.
  struct Writer {
    uint32_t lane;
    uint64_t head;
  };
  std::vector<Writer> ActiveWriters();
  // Whether `writer` has neither released its lane nor published since. Its later samples have later times.
  bool IsStillWriting(const Writer& writer);

  // Closes the next interval of a stream. Call after Scan. A sample that arrives later belongs to the next interval,
  // and its time is set to the start of that interval.
  ClosedInterval CloseNext(format::Stream stream);

  // Returns, per lane, the position before which all records are in the returned rows. `deaths`: tracked sets that
  // still need some of them.
  std::vector<uint64_t> Positions(const format::PerStream<TrackedSet>& deaths) const;
  // Call once those rows are in the file: frees the lanes up to `positions`.
  void Release(const std::vector<uint64_t>& positions);
  // Whether more than half of a lane could be released.
  bool IsShortOfRoom(const format::PerStream<TrackedSet>& deaths) const;
  // Used bytes of all lanes.
  uint64_t UsedRoom() const;

 private:
  // A stack that a sample has included in its lane.
  struct Brought {
    format::StackKey key;
    std::span<const format::RingFrame> leaf_first;
    bool truncated;
    uint64_t begin;  // position in the lane
  };
  // A native point in its lane.
  struct NativePoint {
    format::NativePointRecord* record;
    std::span<const uint64_t> pcs;
    std::span<const format::RingFrame> java;
  };
  struct BufferedSample {
    format::SampleRecord record;
    uint64_t begin;  // position in the lane of the included stack, or of the point
    std::optional<Brought> stack;
  };
  // A light point, or counted objects outside of TLABs.
  struct BufferedPoint {
    format::PointRecord record;
    uint64_t begin;     // as for a sample
    bool is_of_native;  // its stack consists of addresses; other stacks are paths
    bool is_outside = false;
  };
  struct ScannedEvent {
    format::EventRecord record;
    std::string text;
    std::optional<Brought> stack;
  };
  struct Lane {
    format::PerStream<std::deque<BufferedSample>> buffered;
    std::deque<BufferedPoint> points;
    std::optional<Brought> stack;  // stack of the next sample or point
    uint64_t scanned = 0;
    bool damaged = false;
  };

  void OnClass(uint64_t key, std::string_view name) override;
  void OnMethod(uint64_t key, std::string_view class_name, std::string_view name, std::string_view descriptor) override;
  void OnStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated, uint32_t lane,
               uint64_t begin) override;
  void OnThread(uint64_t key, const format::ThreadRecord& record, std::string_view name) override;
  void OnWindow(const format::WindowRecord& record) override;
  void OnSample(const format::SampleRecord& record, uint32_t lane, uint64_t begin, uint64_t end) override;
  void OnPoint(const format::PointRecord& record, uint32_t lane, uint64_t begin) override;
  void OnState(const format::StateRecord& record, std::span<const uint64_t> amounts) override;
  void OnEvent(const format::EventRecord& record, std::string_view text, uint32_t lane) override;
  void OnDeath(const format::DeathRecord& record, uint32_t lane, uint64_t begin) override;
  void OnOutside(const format::PointRecord& record, uint32_t lane, uint64_t begin) override;
  void OnNativePoint(const format::NativePointRecord* record, std::span<const uint64_t> pcs,
                     std::span<const format::RingFrame> java) override;

  bool ScanLanes();
  bool TakeNativePoints();
  void ForgetOrphan(uint32_t index);
  // Adds the names to which the sample refers to the current chunk.
  void Intern(const BufferedSample& buffered);
  void InternStack(const std::optional<Brought>& brought, const format::StackKey& key);
  std::optional<Brought> TakeStack(uint32_t lane, const format::StackKey& key);
  void AddToRow(const BufferedSample& buffered);
  void AddEvent(const ScannedEvent& event);
  // The amounts of a snapshot that the file does not have yet, or has from ten seconds ago or more.
  format::ProcessAccount NotWritten(const format::ProcessState& snapshot);
  // Whether stacks of the stream may stay in their lanes until it is known that they are kept.
  bool MayWait(format::Stream stream) const;
  bool NeedsStackNow(const BufferedSample& buffered);
  uint64_t ShortestIntervalNs() const;
  std::vector<BufferedSample> TakeUntil(format::Stream stream, uint64_t end_ns);
  // Adds the light points of allocations until then to the chunk's rows. Returns their number.
  uint64_t AddPointsUntil(uint64_t end_ns);
  uint64_t NeededFrom(const Lane& lane) const;
  static std::vector<ClosedSample> BirthsOf(const std::vector<BufferedSample>& buffered,
                                            const std::vector<format::Sample>& kept);
  void UseWindow(uint32_t id);
  format::SampleNames NamesOf(const format::SampleRecord& record);

  buffer::Ring& ring_;
  format::RingView view_;
  format::PerStream<throttle::IntervalReducer> reducers_;
  std::vector<Lane> lanes_;
  ChunkInterner definitions_;
  OnStackKnown on_stack_;
  const NativePointTaker on_native_point_;
  const format::PerStream<bool> tracks_;
  std::vector<BufferedSample> just_scanned_;
  struct ScannedPoint {
    uint64_t class_key;
    format::StackKey stack_key;
    std::optional<Brought> stack;
  };
  std::vector<ScannedPoint> just_scanned_points_;
  std::vector<ScannedEvent> just_scanned_events_;
  struct WrittenAmount {
    format::Amount amount;
    uint64_t time_ns = 0;
  };
  std::array<WrittenAmount, format::kAccountItems> written_{};  // the last of each item
  std::vector<NativePoint> native_points_;                      // just scanned
  std::vector<Death> deaths_;
  std::unordered_set<format::StackKey, format::StackKeyHash> brought_;  // since an interval closed
  struct KnownWindow {
    format::Window window;
    int64_t chunk;  // sequence number of the latest chunk with the window; -1: none
  };
  format::PerStream<std::map<uint32_t, KnownWindow>>
      windows_;  // the latest, by id: each chunk needs the windows of its samples
  format::ChunkWriter* chunk_ = nullptr;
  int64_t sequence_ = 0;
  format::PerStream<uint64_t> next_interval_;
};

}  // namespace heaprec::writer
