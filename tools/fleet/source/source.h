// Where the fleet's sums come from: a server, or a folder of recordings. Both give the same numbers, as far as adding
// up in another order allows.
//
// Units:    bytes, objects, seconds; times in seconds since 1970.
// Failure:  each call returns the sentence for the user.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/fleet/rows/slices.h"
#include "tools/fleet/rows/sums.h"

namespace heaprec::tools::fleet {

// [from, to): whole slices are taken that begin in it.
struct TimeRange {
  uint32_t from = 0, to = UINT32_MAX;
  bool Holds(uint32_t time) const { return from <= time && time < to; }
};

// Classes and sites to read; nullopt: all.
struct RowFilter {
  std::optional<std::vector<uint64_t>> classes, sites;
};

// What the sums of a recording are multiplied by, and what the ratio to all its bytes takes away of their variance.
struct RecordingScale {
  uint64_t recording = 0;
  double factor = 1;
  double per_byte = 0;  // 1 / bytes of all its samples; 0: there is no ratio
  double variance = 0;  // of these
};

// Which rows a question takes: those that tell what is asked for and what is filtered by, and no more.
RowGrain GrainToRead(RowGrain by, const RowFilter& filter);

// Sums of several recordings, scaled; and what calibration takes off the variances (twice shared) and adds to them.
struct PooledSums {
  Sums sums;
  double shared = 0, shared_all = 0;                  // sum of f^2 q V, of f^2 q^2 V_all
  double shared_objects = 0, shared_objects_all = 0;  // likewise for objects, with their covariance
  void Add(const Sums& of, const RecordingScale& scale);
  // Adds other rows of the same recordings.
  PooledSums& operator+=(const PooledSums& other);
};

struct PoolQuery {
  TimeRange range;
  std::vector<RecordingScale> recordings;
  RowGrain by = RowGrain::kClass;  // rows of the answer
  RowFilter filter;
  uint32_t step = 0;  // > 0: the answer's rows are times, of so many seconds each
};
struct PooledRow {
  RowKey key;         // of `by`
  uint32_t time = 0;  // of a step
  PooledSums pooled;
};

// One side of a comparison: recordings of units (hosts), each with what makes its bytes a part of the unit's rate.
struct UnitShare {
  uint64_t recording = 0;
  uint32_t unit = 0;
  double weight = 0;  // factor / seconds of the unit
};
struct Side {
  TimeRange range;
  std::vector<UnitShare> shares;
};
struct CompareQuery {
  RowGrain by = RowGrain::kSite;
  RowFilter filter;
  Side before, after;
};
// Moments of a key's rates over units. Units without a sample count as 0 and are not in the sums.
struct Moments {
  RowKey key;
  double before = 0, before_squares = 0, after = 0, after_squares = 0;
  double difference_squares = 0;  // of after - before, by unit
};
struct UnitRate {
  RowKey key;
  uint32_t unit = 0;
  double rate = 0, variance = 0;
};

struct StepTotals {
  uint32_t time = 0;
  Totals totals;     // of minutes that were counted
  Totals uncounted;  // of the others
};

// Samples, thinned so that about `most` of them are left; their weights are calibrated and stay unbiased.
struct SampleQuery {
  TimeRange range;
  std::vector<RecordingScale> recordings;
  RowFilter filter;
  uint64_t most = 0;
};
struct FleetSample {
  uint64_t recording = 0;
  ThinnedSample sample;
};
// The weight that a sample of a recording has after thinning by `tau` (0: none); 0: it is left out. The draw hangs on
// the ids alone, so that every source leaves out the same.
double ThinnedWeight(uint64_t recording, uint64_t id, double weight, double tau);

// When it was last told what is live in a recording: the time of its slice, and the time itself.
struct LiveMoment {
  uint64_t recording = 0, process = 0;
  uint32_t time = 0, at = 0;
};
// What is live of several recordings.
struct PooledLive {
  RowKey key;
  LiveSums live, may_be_garbage;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual uint32_t slice_seconds() const = 0;
  virtual format::Result<std::vector<RecordingInfo>> Recordings() = 0;
  // By recording. A range ends in whole slices.
  virtual format::Result<std::map<uint64_t, Totals>> TotalsOf(const TimeRange& range,
                                                              const std::vector<uint64_t>& recordings) = 0;
  virtual format::Result<std::vector<StepTotals>> TotalsByTime(const TimeRange& range,
                                                               const std::vector<uint64_t>& recordings,
                                                               uint32_t step) = 0;
  virtual format::Result<std::vector<PooledRow>> Pool(const PoolQuery& query) = 0;
  virtual format::Result<std::vector<Moments>> Compare(const CompareQuery& query) = 0;
  virtual format::Result<std::vector<UnitRate>> Rates(RowGrain by, const RowFilter& filter, const Side& side) = 0;
  // Returns the last one of each recording in the range; recordings without one are absent.
  virtual format::Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                                              const std::vector<uint64_t>& recordings) = 0;
  // kWhole takes no filter.
  virtual format::Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                                       const RowFilter& filter) = 0;
  virtual format::Result<std::vector<FleetSample>> Samples(const SampleQuery& query) = 0;
  virtual format::Result<std::vector<FleetStack>> StacksOf(const std::vector<uint64_t>& ids) = 0;
  virtual format::Result<std::vector<NamedId>> Names(NameKind kind) = 0;
  virtual format::Result<std::map<uint64_t, std::string>> NamesOf(NameKind kind, const std::vector<uint64_t>& ids) = 0;
};

}  // namespace heaprec::tools::fleet
