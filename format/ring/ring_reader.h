// Decodes the records in lanes of a shared ring, for the drain (live) and the salvager (after a kill).
//
// Context:  drain. Only reads memory; the caller stores the positions.
// Failure:  an invalid record (size, type, order) ends the scan of its lane with an Error that names lane
//           and position.
// Format:   docs/format/ring.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "format/ring/census_pages.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_records.h"
#include "format/ring/row_pages.h"

namespace heaprec::format {

struct RecordVisitor;

// A view of a mapped ring; does not own it. It has copies of the sizes, so later changes of the header cannot cause
// reads outside the ring.
class RingView {
 public:
  // Checks magic, version and sizes; safe for any bytes.
  static Result<RingView> Of(std::span<const std::byte> bytes);

  const RingHeader& header() const { return *header_; }
  uint32_t lane_count() const { return lane_count_; }
  // Precondition: index < lane_count().
  const LaneHeader& lane(uint32_t index) const;
  // Empty if the ring has no modules, or its process died while it wrote them.
  std::span<const RingModule> modules() const;
  const RingCensusPages* census() const { return census_; }  // null: there is none
  const RingRowPages* rows() const { return rows_; }         // null: there are none

 private:
  friend Result<uint64_t> WalkLane(const RingView&, uint32_t, uint64_t, uint64_t, RecordVisitor&);
  std::span<const std::byte> lane_bytes(uint32_t index) const;
  const std::byte* lane_begin(uint32_t index) const;
  const RingHeader* header_ = nullptr;
  const RingModules* modules_ = nullptr;  // null: none
  const RingCensusPages* census_ = nullptr;
  const RingRowPages* rows_ = nullptr;
  uint32_t lane_count_ = 0, lane_bytes_ = 0;
};

// Strings and frames point into the lane: valid until the lane's tail passes the record.
struct RecordVisitor {
  virtual ~RecordVisitor() = default;
  virtual void OnClass(uint64_t key, std::string_view name) = 0;
  virtual void OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                        std::string_view descriptor) = 0;
  virtual void OnStack(StackKey key, std::span<const RingFrame> leaf_first, bool truncated, uint32_t lane,
                       uint64_t begin) = 0;
  virtual void OnThread(uint64_t key, const ThreadRecord& record, std::string_view name) = 0;
  virtual void OnWindow(const WindowRecord& record) = 0;
  // `end` is the position just after the sample.
  virtual void OnSample(const SampleRecord& record, uint32_t lane, uint64_t begin, uint64_t end) = 0;
  virtual void OnPoint(const PointRecord& /*record*/, uint32_t /*lane*/, uint64_t /*begin*/) {}
  virtual void OnOutside(const PointRecord& /*record*/, uint32_t /*lane*/, uint64_t /*begin*/) {}
  virtual void OnState(const StateRecord& /*record*/, std::span<const uint64_t> /*amounts*/) {}
  virtual void OnEvent(const EventRecord& /*record*/, std::string_view /*text*/, uint32_t /*lane*/) {}
  virtual void OnDeath(const DeathRecord& /*record*/, uint32_t /*lane*/, uint64_t /*begin*/) {}
  // `record` is in the lane. Frames are innermost first.
  virtual void OnNativePoint(const NativePointRecord* /*record*/, std::span<const uint64_t> /*pcs*/,
                             std::span<const RingFrame> /*java*/) {}
};

// Walks one lane from `position` to `head` (a value of LaneHeader::head read with acquire).
// Returns the reached position, which is `head` unless there is an error.
Result<uint64_t> WalkLane(const RingView& ring, uint32_t lane, uint64_t position, uint64_t head,
                          RecordVisitor& visitor);

// Passes the names of a census page to OnClass and OnThread, up to the first incomplete one.
void VisitNames(const RingCensusPage& page, RecordVisitor& visitor);

// The names of a sample, as indices into the dictionaries of its chunk or block.
struct SampleNames {
  Index class_id = kNone, thread = kNone, stack = kNone;
};

// Convert records to values of a recording; drain and salvager both use these. `start_monotonic_ns`: start of the
// recording.
uint64_t SinceStart(uint64_t monotonic_ns, uint64_t start_monotonic_ns);
// Rounded to ticks, so that a salvager that counts the samples of the file gets the same number as the drain.
uint64_t TimeOf(const SampleRecord& record, uint64_t start_monotonic_ns, uint64_t not_before_ns);
Sample SampleOf(const SampleRecord& record, const SampleNames& names, uint64_t time_ns, double weight);
Window WindowOf(const WindowRecord& record, uint64_t start_monotonic_ns);
Thread ThreadOf(const ThreadRecord& record, std::string_view name);
ProcessState StateOf(const StateRecord& record, std::span<const uint64_t> amounts, uint64_t start_monotonic_ns);
ProcessState EventOf(const EventRecord& record, std::string_view text, const SampleNames& names,
                     uint64_t start_monotonic_ns);
LifecycleEvent LifecycleOf(const DeathRecord& record, uint64_t start_monotonic_ns);
CensusCounters CountersOf(const RingCensus& census);

}  // namespace heaprec::format
