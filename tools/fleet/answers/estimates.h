// Estimates with 95 % intervals from sums over recordings, for any source.
//
// Recordings are sampled independently, so their variances add up, each after its own calibration, and the sum gives
// one interval. A recording without a sample of a group adds nothing to that group.
//
// Units:    bytes and objects; shares from 0 to 1.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <map>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/fleet/answers/source.h"

namespace heaprec::tools::fleet {

class FleetEstimator {
 public:
  // `totals`: of all requested recordings.
  explicit FleetEstimator(const std::map<uint64_t, Totals>& totals);

  const std::vector<RecordingScale>& scales() const { return scales_; }
  // The same without the ratio to all bytes, for parts of the range.
  std::vector<RecordingScale> FactorsOnly() const;

  // What all samples represent; exact if everything was counted.
  Estimate Total() const;
  Estimate TotalObjects() const { return Objects(all_); }
  Estimate Bytes(const PooledSums& of) const;
  Estimate Objects(const PooledSums& of) const;
  Estimate Share(const PooledSums& of) const;
  // Estimates the bytes of a part of the range, with FactorsOnly.
  Estimate BytesOfPart(const PooledSums& of) const;

 private:
  std::vector<RecordingScale> scales_;
  PooledSums all_;
  bool is_calibrated_ = true;  // all recordings are calibrated
  double counted_ = 0;
  double unit_ = 0;
};

}  // namespace heaprec::tools::fleet
