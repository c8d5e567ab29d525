// Where the fleet's sums come from: a server, or a folder of recordings. Both give the same numbers, as far as adding
// up in another order allows. A source adds up over recordings and times; all arithmetic of estimates is above it.
//
// Units:    bytes, objects, seconds; times in seconds since 1970.
// Failure:  each call returns the sentence for the user.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <map>
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

// [from, to): whole slices are taken that begin in it.
struct TimeRange {
  uint32_t from = 0, to = UINT32_MAX;
  bool Holds(uint32_t time) const { return from <= time && time < to; }
  bool operator==(const TimeRange&) const = default;
};

// Classes and sites to read; nullopt: all.
struct RowFilter {
  std::optional<std::vector<uint64_t>> classes, sites;
};

// What the sums of a recording are multiplied by, and what the ratio to all its bytes takes away of their variance.
struct RecordingScale {
  uint64_t recording = 0;
  uint32_t host = 0;  // number of its host, where hosts are told apart
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

// What the answer's rows are of, beside their key.
enum class RowsOf : uint8_t { kAll, kStep, kHost };
struct PoolQuery {
  TimeRange range;
  std::vector<RecordingScale> recordings;
  RowGrain by = RowGrain::kClass;
  RowFilter filter;
  RowsOf rows_of = RowsOf::kAll;  // kStep: rows have no key; kHost: rows have only bytes and their variance
  uint32_t step = 0;              // of kStep, in seconds
};
struct PooledRow {
  RowKey key;
  uint32_t step = 0, host = 0;
  PooledSums pooled;
};

// Compares two sides by the rates of their hosts: the factor of a recording makes its bytes a part of its host's rate.
struct Side {
  TimeRange range;
  std::vector<RecordingScale> recordings;
};
struct CompareQuery {
  RowGrain by = RowGrain::kSite;
  RowFilter filter;
  Side before, after;
};
// Moments of a key's rates over hosts. Hosts without a sample count as 0 and are not in the sums.
struct Moments {
  RowKey key;
  double before = 0, before_squares = 0, after = 0, after_squares = 0;
  double difference_squares = 0;  // of after - before, by host
};

struct TotalsRow {
  uint64_t recording = 0;
  uint32_t step = 0;
  Totals counted, uncounted;  // of minutes in which bytes were counted, and of the others
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
// The weight that a sample of a recording has after thinning by `tau` (0: none); 0: it is left out. The draw depends on
// the ids alone, so that every source leaves out the same.
double ThinnedWeight(uint64_t recording, uint64_t id, double weight, double tau);

// The last snapshot of what is live in a recording: the time of its slice, and its own.
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
  uint32_t slice_seconds() const { return slice_seconds_; }
  // Some recordings could not be read.
  bool is_damaged() const { return is_damaged_; }

  virtual Result<std::vector<RecordingInfo>> Recordings() = 0;
  // `step`: 0: a row for each recording; else the seconds of a row, of all recordings. A range ends in whole slices.
  virtual Result<std::vector<TotalsRow>> TotalsOf(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                                  uint32_t step) = 0;
  virtual Result<std::vector<PooledRow>> Pool(const PoolQuery& query) = 0;
  virtual Result<std::vector<Moments>> Compare(const CompareQuery& query) = 0;
  // Returns the last one of each recording in the range; recordings without one are absent.
  virtual Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) = 0;
  // kWhole takes no filter.
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

// All slices of all recordings in a folder, in memory: about 150 B for each class, site and pair of them in each slice.
// Returns an Error if there is no folder or no recording in it. Files that cannot be read are named on stderr and left
// out. `samples_per_second`: how many samples of a recording are kept, with their stacks; 0: none.
Result<std::unique_ptr<Source>> OpenFolder(const std::string& folder, uint32_t slice_seconds,
                                           double samples_per_second);

// `server` must outlive it.
Result<std::unique_ptr<Source>> OpenServer(Server* server);

}  // namespace heaprec::tools::fleet
