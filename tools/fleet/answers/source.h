// The source of the fleet's sums: a server, or a folder of recordings. Both return the same numbers, except for
// rounding. A source computes sums over recordings and times; estimates are computed by its callers.
//
// Units:    bytes, objects, seconds; times in seconds since 1970.
// Failure:  each call returns an error message for the user.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tools/fleet/rows/slices.h"
#include "tools/fleet/rows/sums.h"
#include "tools/fleet/server/server.h"

namespace heaprec::tools::fleet {

// [from, to): includes the slices that begin in it.
struct TimeRange {
  uint32_t from = 0, to = UINT32_MAX;
  bool Holds(uint32_t time) const { return from <= time && time < to; }
  bool operator==(const TimeRange&) const = default;
};

// Classes and sites to read; nullopt: all.
struct RowFilter {
  std::optional<std::vector<uint64_t>> classes, sites;
};

// The factor for the sums of a recording, and the reduction of their variance by the ratio to all its bytes.
struct RecordingScale {
  uint64_t recording = 0;
  uint32_t host = 0;  // number of its host, if hosts are distinguished
  double factor = 1;
  double per_byte = 0;  // 1 / bytes of all its samples; 0: there is no ratio
  double variance = 0;  // variance of these bytes
};

// Returns which rows a query reads: the least detailed rows that contain its keys and filters.
RowGrain GrainToRead(RowGrain by, const RowFilter& filter);

// Scaled sums of several recordings, and the terms by which calibration reduces the variances (twice shared) and
// increases them.
struct PooledSums {
  Sums sums;
  double shared = 0, shared_all = 0;                  // sum of f^2 q V, of f^2 q^2 V_all
  double shared_objects = 0, shared_objects_all = 0;  // the same for objects, with their covariance
  void Add(const Sums& of, const RecordingScale& scale);
  // Adds other rows of the same recordings.
  PooledSums& operator+=(const PooledSums& other);
};

// What the answer's rows are divided by, besides their key.
enum class RowsOf : uint8_t { kAll, kStep, kHost };
struct PoolQuery {
  TimeRange range;
  std::vector<RecordingScale> recordings;
  RowGrain by = RowGrain::kClass;
  RowFilter filter;
  RowsOf rows_of = RowsOf::kAll;  // kStep: rows have no key; kHost: rows have only bytes and their variance
  uint32_t step = 0;              // for kStep, in seconds
};
struct PooledRow {
  RowKey key;
  uint32_t step = 0, host = 0;
  PooledSums pooled;
};

// One side of a comparison by rates of hosts: the factor of a recording converts its bytes to a part of its host's
// rate.
struct Side {
  TimeRange range;
  std::vector<RecordingScale> recordings;
};
struct CompareQuery {
  RowGrain by = RowGrain::kSite;
  RowFilter filter;
  Side before, after;
};
// Moments of a key's rates over hosts. Hosts without a sample count as 0 and are not included in the sums.
struct Moments {
  RowKey key;
  double before = 0, before_squares = 0, after = 0, after_squares = 0;
  double difference_squares = 0;  // of after - before, by host
};

struct TotalsRow {
  uint64_t recording = 0;
  uint32_t step = 0;
  Totals counted, uncounted;  // sums over minutes in which bytes were counted, and over the others
};

// Samples, thinned to about `most`; their weights are calibrated and unbiased.
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
// Returns a sample's weight after thinning by `tau` (0: no thinning); 0: it is dropped. Depends only on the ids, so
// that every source drops the same samples.
double ThinnedWeight(uint64_t recording, uint64_t id, double weight, double tau);

// The latest live snapshot of a recording: the time of its slice, and its own.
struct LiveMoment {
  uint64_t recording = 0, process = 0;
  uint32_t time = 0, at = 0;
};
// The live objects of several recordings.
struct PooledLive {
  RowKey key;
  LiveSums live, may_be_garbage;
};

class Source {
 public:
  virtual ~Source() = default;
  uint32_t slice_seconds() const { return slice_seconds_; }
  // Whether some recordings could not be read.
  bool is_damaged() const { return is_damaged_; }

  virtual Result<std::vector<RecordingInfo>> Recordings() = 0;
  // `step`: 0: one row per recording; otherwise the seconds per row, over all recordings. A range ends with complete
  // slices.
  virtual Result<std::vector<TotalsRow>> TotalsOf(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                                  uint32_t step) = 0;
  virtual Result<std::vector<PooledRow>> Pool(const PoolQuery& query) = 0;
  virtual Result<std::vector<Moments>> Compare(const CompareQuery& query) = 0;
  // Returns the latest snapshot of each recording in the range; recordings without one are absent.
  virtual Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) = 0;
  // kWhole accepts no filter.
  virtual Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                               const RowFilter& filter) = 0;
  virtual Result<std::vector<FleetSample>> Samples(const SampleQuery& query) = 0;
  // The methods of stacks, leaf first.
  using Stacks = std::unordered_map<uint64_t, std::vector<uint64_t>>;
  virtual Result<Stacks> StacksOf(const std::vector<uint64_t>& ids) = 0;
  using Names = std::unordered_map<uint64_t, std::string>;
  // `ids`: nullopt: all names.
  virtual Result<Names> NamesOf(NameKind kind, const std::optional<std::vector<uint64_t>>& ids) = 0;

 protected:
  explicit Source(uint32_t slice_seconds) : slice_seconds_(slice_seconds) {}
  bool is_damaged_ = false;

 private:
  const uint32_t slice_seconds_;
};

// Reads all slices of all recordings in a folder into memory: about 150 B per class, site and pair of them in each
// slice. Returns an Error if there is no folder, or no recording in it. Reports unreadable files on stderr and skips
// them. `samples_per_second`: number of samples of a recording to keep, with their stacks; 0: none.
Result<std::unique_ptr<Source>> OpenFolder(const std::string& folder, uint32_t slice_seconds,
                                           double samples_per_second);

// `server` must outlive it.
Result<std::unique_ptr<Source>> OpenServer(Server* server);

}  // namespace heaprec::tools::fleet
